#include "ptx/limits.h"
#include "ptx/parser.h"

namespace kernelcast::ptx {

std::array<std::uint32_t, 3> Parser::extents() {
  std::array<std::uint32_t, 3> all{1, 1, 1};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && !take_mark(',')) break;
    all[i] = static_cast<std::uint32_t>(expect_integer(0x7fffffffU, "the directive"));
  }
  return all;
}

void Parser::directives(Directives& into) {
  const auto number = [&](std::uint32_t& field) {
    advance();
    field = static_cast<std::uint32_t>(expect_integer(0x7fffffffU, "the directive"));
  };
  const auto flag = [&](bool& field) {
    advance();
    field = true;
  };
  const auto three = [&](std::array<std::uint32_t, 3>& field) {
    advance();
    field = extents();
  };
  while (token().kind == TokenKind::word) {
    const std::string_view word = token().text;
    if (word == "maxntid")
      three(into.maxntid);
    else if (word == "reqntid")
      three(into.reqntid);
    else if (word == "reqnctapercluster")
      three(into.reqnctapercluster);
    else if (word == "maxnreg")
      number(into.maxnreg);
    else if (word == "minnctapersm")
      number(into.minnctapersm);
    else if (word == "maxnctapersm")
      number(into.maxnctapersm);
    else if (word == "maxclusterrank")
      number(into.maxclusterrank);
    else if (word == "explicitcluster")
      flag(into.explicitcluster);
    else if (word == "blocksareclusters")
      flag(into.blocksareclusters);
    else if (word == "noreturn")
      flag(into.noreturn);
    else if (word == "abi_preserve" || word == "abi_preserve_control") {
      advance();
      (word == "abi_preserve" ? into.abi_preserve : into.abi_preserve_control) =
          static_cast<std::int32_t>(expect_integer(0x7fffffffU, "the directive"));
    } else if (word == "attribute") {
      advance();
      function_.attributes = attributes();
    } else if (word == "pragma") {
      advance();
      do {
        into.pragmas.push_back(expect_string());
      } while (take_mark(','));
      take_mark(';');
    } else {
      fail_here(quoted(token()) + " is no directive of a function");
    }
  }
}

void Parser::enter_scope(Place open) {
  if (scopes_.size() == max_scopes)
    fail_limit(source_, open,
               "more than " + std::to_string(max_scopes) + " scopes within one another; flatten the braces");
  names_.enter();
  scopes_.emplace_back().open = open;
}

void Parser::leave_scope() {
  ScopeState scope = std::move(scopes_.back());
  scopes_.pop_back();
  std::vector<Pending> unresolved;
  if (scope.has_labels || scopes_.empty()) {
    for (const Pending& pending : scope.pending) {
      const Meaning meaning = names_.find_here(pending.name);
      const NameKind wanted = pending.kind == PendingKind::table ? NameKind::table : NameKind::label;
      if (meaning.kind == wanted)
        resolve(pending, meaning);
      else if (scopes_.empty())
        fail_at(pending.place,
                "label '" + std::string(pending.name) + "' is not in this function; add it, or correct the name");
      else
        unresolved.push_back(pending);
    }
  } else {
    unresolved = std::move(scope.pending);
  }
  if (!unresolved.empty()) {
    std::vector<Pending>& outer = scopes_.back().pending;
    if (outer.empty())
      outer = std::move(unresolved);
    else
      outer.insert(outer.end(), unresolved.begin(), unresolved.end());
  }
  names_.leave();
}

void Parser::resolve(const Pending& pending, Meaning meaning) {
  if (pending.kind == PendingKind::table_label) {
    function_.tables[pending.owner].labels[pending.position] = static_cast<std::uint32_t>(meaning.index);
    return;
  }
  function_.body[pending.owner].operands[pending.position].index = meaning.index;
}

void Parser::body() {
  function_.has_body = true;
  locations_.forget_current();
  statements(true);
}

void Parser::function(bool is_entry, Linkage linkage) {
  function_ = Function();
  function_.is_entry = is_entry;
  function_.linkage = linkage;
  names_.forget_used();
  if (at_word("attribute")) {
    advance();
    function_.attributes = attributes();
  }
  if (!is_entry) function_.returns = parameters();
  function_.place = token().place;
  function_.name = expect_name(is_entry ? "the kernel" : "the function");
  const Meaning earlier = names_.find(function_.name);
  if (earlier.kind != NameKind::none && (earlier.kind != NameKind::function))
    fail_at(function_.place, "'" + std::string(function_.name) + "' is declared as a variable, too; rename one");
  std::size_t index = module_.functions.size();
  if (earlier.kind == NameKind::none)
    declare(function_.name, NameKind::function, index, function_.place);
  else
    index = static_cast<std::size_t>(earlier.index);
  if (earlier.kind == NameKind::none) module_.functions.emplace_back().name = function_.name;  // for calls of itself
  function_.params = parameters();
  directives(function_.directives);
  if (at_mark('{')) {
    if (module_.functions[index].has_body)
      fail_at(function_.place, "'" + std::string(function_.name) + "' has two bodies; remove one");
    enter_scope(token().place);
    const auto declare_all = [&](std::vector<Variable>& variables, NameKind kind) {
      for (std::size_t i = 0; i < variables.size(); ++i) {
        Variable& variable = variables[i];
        if (variable.name == "_") continue;
        names_.unique(variable.name, false);
        if (variable.space == Space::reg) {
          const auto first = static_cast<std::uint32_t>(function_.registers.size());
          add_registers(variable.name, variable.type, variable.vector, 1, false, variable.place);
          function_.groups.push_back({variable.name, variable.type, variable.vector, false, first, 1});
        } else {
          declare(variable.name, kind, i, variable.place);
        }
      }
    };
    declare_all(function_.returns, NameKind::return_);
    declare_all(function_.params, NameKind::param);
    advance();
    body();
  } else if (!take_mark(';')) {
    fail_expected("'{' or ';' after the function's head");
  }
  if (function_.has_body && index + 1 < module_.functions.size()) moved_ = true;
  if (function_.has_body || !module_.functions[index].has_body) module_.functions[index] = std::move(function_);
  function_ = Function();
}

}  // namespace kernelcast::ptx
