// Random numbers that the host draws. Their sequences are fixed by the seed: rand() as in glibc, drand48() by POSIX,
// engines by the C++ standard, distributions by its library here. A seed that is not known is taken for the generator's
// own first one, which is listed.
#include <algorithm>
#include <numeric>

#include "clang/AST/DeclTemplate.h"
#include "frontend/host/interpreter.h"
#include "frontend/host/random_state.h"

namespace kernelcast::frontend::host {

void CRandom::seed(std::uint32_t value) {
  auto word = static_cast<std::int32_t>(value == 0 ? 1 : value);
  for (std::uint32_t& w : words_) {
    w = static_cast<std::uint32_t>(word);
    const std::int64_t next = (std::int64_t{16807} * word) % 2147483647;
    word = static_cast<std::int32_t>(next < 0 ? next + 2147483647 : next);
  }
  front_ = 3;
  rear_ = 0;
  for (int k = 0; k < 310; ++k) next();
}

std::int64_t CRandom::next() {
  const std::uint32_t sum = words_[front_] += words_[rear_];
  front_ = (front_ + 1) % words_.size();
  rear_ = (rear_ + 1) % words_.size();
  return sum >> 1U;
}

std::int64_t next_of(std::uint32_t& state) {
  std::uint32_t result = 0;
  for (const std::uint32_t bits : {11U, 10U, 10U}) {
    state = state * 1103515245U + 12345U;
    result = (result << (bits == 11U ? 0U : 10U)) ^ ((state >> 16U) % (1U << bits));
  }
  return result;
}

namespace {

constexpr std::int64_t kMostDiscarded = 1 << 24;

bool is_engine(const clang::CXXRecordDecl* record) {
  return is_std(record, {"linear_congruential_engine", "mersenne_twister_engine"});
}

bool is_distribution(const clang::CXXRecordDecl* record) {
  return is_std(record, {"uniform_int_distribution", "uniform_real_distribution", "normal_distribution",
                         "exponential_distribution", "bernoulli_distribution"});
}

/// The template argument at an index, where it is a number.
std::optional<std::uint64_t> number_in(const clang::CXXRecordDecl* record, unsigned index) {
  const auto* made = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  if (made == nullptr || index >= made->getTemplateArgs().size()) return std::nullopt;
  const clang::TemplateArgument& a = made->getTemplateArgs()[index];
  if (a.getKind() != clang::TemplateArgument::Integral) return std::nullopt;
  return a.getAsIntegral().getZExtValue();
}

clang::QualType type_in(const clang::CXXRecordDecl* record) {
  const auto* made = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  if (made == nullptr || made->getTemplateArgs().size() == 0) return {};
  const clang::TemplateArgument& a = made->getTemplateArgs()[0];
  return a.getKind() == clang::TemplateArgument::Type ? a.getAsType() : clang::QualType();
}

template <class Engine>
RandomEngine seeded(const std::optional<std::uint64_t>& seed) {
  return seed ? Engine(static_cast<typename Engine::result_type>(*seed)) : Engine();
}

/// Of the class that a type names; nothing: another than those that are evaluated.
std::optional<RandomEngine> engine_of(const clang::CXXRecordDecl* record, const std::optional<std::uint64_t>& seed) {
  const auto second = number_in(record, 1);
  if (is_std(record, {"linear_congruential_engine"})) {
    if (number_in(record, 2) != 0U || number_in(record, 3) != 2147483647U) return std::nullopt;
    if (second == 16807U) return seeded<std::minstd_rand0>(seed);
    if (second == 48271U) return seeded<std::minstd_rand>(seed);
    return std::nullopt;
  }
  if (second == 32U && number_in(record, 2) == 624U) return seeded<std::mt19937>(seed);
  if (second == 64U && number_in(record, 2) == 312U) return seeded<std::mt19937_64>(seed);
  return std::nullopt;
}

template <template <class> class Distribution>
RandomDistribution real_distribution(bool single, double a, double b) {
  if (single) return Distribution<float>(static_cast<float>(a), static_cast<float>(b));
  return Distribution<double>(a, b);
}

/// `given`: the parameters that the program gives, `most`: the largest number of the type. Nothing where the parameters
/// are none that the standard allows.
std::optional<RandomDistribution> distribution_of(const clang::CXXRecordDecl* record, clang::QualType type,
                                                  std::int64_t most, const std::vector<Value>& given) {
  const auto parameter = [&](std::size_t k, double otherwise) {
    return k < given.size() ? given[k].number() : otherwise;
  };
  const bool single = !type.isNull() && type->isSpecificBuiltinType(clang::BuiltinType::Float);
  if (is_std(record, {"uniform_int_distribution"})) {
    for (const Value& v : given)
      if (!v.is_integer()) return std::nullopt;
    const std::int64_t low = !given.empty() ? given[0].integer : 0;
    if (type.isNull()) return std::nullopt;
    const std::int64_t high = given.size() > 1 ? given[1].integer : most;
    if (type->isUnsignedIntegerType()) {
      const auto a = static_cast<std::uint64_t>(low), b = static_cast<std::uint64_t>(high);
      if (a > b) return std::nullopt;
      return std::uniform_int_distribution<std::uint64_t>(a, b);
    }
    if (low > high) return std::nullopt;
    return std::uniform_int_distribution<std::int64_t>(low, high);
  }
  if (is_std(record, {"uniform_real_distribution"})) {
    const double a = parameter(0, 0), b = parameter(1, 1);
    if (!(a <= b)) return std::nullopt;
    return real_distribution<std::uniform_real_distribution>(single, a, b);
  }
  if (is_std(record, {"normal_distribution"})) {
    const double deviation = parameter(1, 1);
    if (!(deviation > 0)) return std::nullopt;
    return real_distribution<std::normal_distribution>(single, parameter(0, 0), deviation);
  }
  if (is_std(record, {"exponential_distribution"})) {
    const double rate = parameter(0, 1);
    if (!(rate > 0)) return std::nullopt;
    if (single) return std::exponential_distribution<float>(static_cast<float>(rate));
    return std::exponential_distribution<double>(rate);
  }
  const double chance = parameter(0, 0.5);
  if (!(chance >= 0 && chance <= 1)) return std::nullopt;
  return std::bernoulli_distribution(chance);
}

bool draws_of_c(const std::string& name) {
  return OneOf{name}({"rand", "random", "rand_r", "drand48", "lrand48", "mrand48"});
}

std::shared_ptr<RandomState> state_at(const Place& object) {
  const MemoryRef memory = object_at(object);
  return memory ? memory->random : nullptr;
}

/// Valid as long as `state` is.
RandomEngine* engine_in(const std::shared_ptr<RandomState>& state) {
  return state ? std::get_if<RandomEngine>(&state->what) : nullptr;
}

Value draw(RandomDistribution& distribution, RandomEngine& engine) {
  return std::visit(
      [](auto& d, auto& e) {
        const auto value = d(e);
        if constexpr (std::is_floating_point_v<decltype(value)>)
          return Value::of_real(static_cast<double>(value));
        else
          return Value::of(static_cast<std::int64_t>(value));
      },
      distribution, engine);
}

}  // namespace

bool Interpreter::is_random(clang::QualType type) const {
  const clang::CXXRecordDecl* record = class_of(type);
  return is_engine(record) || is_distribution(record);
}

/// Whether a call draws a random number.
bool Interpreter::draws(const clang::CallExpr* call) {
  const clang::FunctionDecl* f = call->getDirectCallee();
  if (f == nullptr) return false;
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(f))
    return is_engine(method->getParent()) || is_distribution(method->getParent());
  return f->getDeclName().isIdentifier() && draws_of_c(f->getNameAsString());
}

/// Nothing: not known, which is listed.
std::optional<std::uint64_t> Interpreter::seed_in(const Value& given, const clang::Stmt* at, const std::string& what) {
  if (given.is_integer()) return static_cast<std::uint64_t>(given.integer);
  assume("the seed of " + what + " at line " + std::to_string(line_of(at)) + " is not known" +
         (given.unknown.why.empty() ? "" : ": " + given.unknown.why) +
         "; its numbers are those that follow its own first seed");
  return std::nullopt;
}

/// A value that was drawn. Behind draws that were passed over, the row is another than the program's: such numbers
/// stand for contents that a loop writes, and decide nothing else.
Value Interpreter::drawn(const Value& value, const std::string& what, int line) {
  if (draws_passed_over_ == 0 || loop_end_ != 0) return value;
  return Value::not_known(
      what + " behind draws that were not evaluated (line " + std::to_string(draws_passed_over_) + ")", line);
}

std::optional<Value> Interpreter::c_random_call(const std::string& name, const clang::CallExpr* call) {
  const int line = line_of(call);
  const OneOf is{name};
  if (is({"srand", "srandom", "srand48"}) && call->getNumArgs() == 1) {
    const auto given = seed_in(evaluate(call->getArg(0)), call, name == "srand48" ? "drand48()" : "rand()");
    const auto seed = static_cast<std::uint32_t>(given.value_or(1));
    if (name == "srand48")
      random48_->seed(seed);
    else
      c_random_->seed(seed);
    return Value::of(0);
  }
  if (!draws_of_c(name)) return std::nullopt;
  if (name == "rand_r") {
    if (call->getNumArgs() != 1) return std::nullopt;
    const Value state = evaluate(call->getArg(0));
    const Value held = state.kind == Value::Kind::pointer ? load(state.place, call->getArg(0)) : Value{};
    if (!held.is_integer()) return Value::not_known("rand_r()", line);
    auto bits = static_cast<std::uint32_t>(held.integer);
    const Value value = Value::of(next_of(bits));
    store(state.place, Value::of(std::int64_t{bits}));
    return value;
  }
  if (is({"rand", "random"})) return drawn(Value::of(c_random_->next()), name + "()", line);
  const Value value = name == "drand48"   ? Value::of_real(random48_->real())
                      : name == "lrand48" ? Value::of(random48_->non_negative())
                                          : Value::of(random48_->either_sign());
  return drawn(value, name + "()", line);
}

/// An engine or a distribution of <random>; without a state where what it is made from is not known.
Value Interpreter::construct_random(const clang::CXXConstructExpr* e) {
  const clang::CXXRecordDecl* record = e->getConstructor()->getParent();
  auto memory = std::make_shared<Memory>();
  memory->rest = Value::not_known("std::" + record->getNameAsString(), line_of(e));
  std::vector<Value> given;
  for (const clang::Expr* a : e->arguments())
    if (!llvm::isa<clang::CXXDefaultArgExpr>(a)) given.push_back(evaluate(a));
  if (is_engine(record)) {
    const auto seed = given.empty() ? std::nullopt : seed_in(given[0], e, "std::" + record->getNameAsString());
    if (const auto engine = engine_of(record, seed))
      memory->random = std::make_shared<RandomState>(RandomState{*engine});
  } else if (std::all_of(given.begin(), given.end(), [](const Value& v) { return v.is_number(); })) {
    const clang::QualType type = type_in(record);
    std::int64_t most = 0;
    if (!type.isNull() && type->isIntegerType())
      most =
          static_cast<std::int64_t>(~0ULL >> (64 - context_.getIntWidth(type) + (type->isSignedIntegerType() ? 1 : 0)));
    if (const auto made = distribution_of(record, type, most, given))
      memory->random = std::make_shared<RandomState>(RandomState{*made});
  }
  return Value::object_of(std::move(memory));
}

std::optional<Value> Interpreter::random_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method) {
  const clang::CXXRecordDecl* record = method == nullptr ? nullptr : method->getParent();
  if (!is_engine(record) && !is_distribution(record)) return std::nullopt;
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
  const clang::Expr* object = member != nullptr        ? member->getImplicitObjectArgument()
                              : call->getNumArgs() > 0 ? call->getArg(0)
                                                       : nullptr;
  if (object == nullptr) return std::nullopt;
  const Place place = object->getType()->isPointerType() ? evaluate(object).place : place_of(object);
  const auto state = state_at(place);
  const std::string what = "std::" + record->getNameAsString();
  const int line = line_of(call);
  RandomEngine* engine = engine_in(state);
  if (const auto* o = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
      o != nullptr && o->getOperator() == clang::OO_Call && state) {
    if (engine != nullptr && o->getNumArgs() == 1)
      return drawn(Value::of(std::visit([](auto& e) { return static_cast<std::int64_t>(e()); }, *engine)), what, line);
    if (engine != nullptr || o->getNumArgs() != 2) return Value::not_known(what, line);
    const auto from_state = state_at(place_of(o->getArg(1)));
    RandomEngine* from = engine_in(from_state);
    if (from == nullptr) return Value::not_known(what + " with numbers that are not known", line);
    const Value value = draw(std::get<RandomDistribution>(state->what), *from);
    return drawn(value.is_integer() ? converted(value, call->getType()) : value, what, line);
  }
  const std::string name = method->getDeclName().isIdentifier() ? method->getNameAsString() : "";
  if (engine != nullptr && name == "seed") {
    const auto seed = call->getNumArgs() == 0 ? std::nullopt : seed_in(evaluate(call->getArg(0)), call, what);
    if (const auto made = engine_of(record, seed)) *engine = *made;
    return Value::of(0);
  }
  if (engine != nullptr && name == "discard" && call->getNumArgs() == 1) {
    const Value steps = evaluate(call->getArg(0));
    if (!steps.is_integer() || steps.integer < 0 || steps.integer > kMostDiscarded) return Value::of(0);
    std::visit([&](auto& e) { e.discard(static_cast<unsigned long long>(steps.integer)); }, *engine);
    return Value::of(0);
  }
  if (state && name == "reset") return Value::of(0);
  if (const auto constant = constant_of(call)) return *constant;  // min(), max() of an engine
  return Value::not_known(what, line);
}

/// std::shuffle of elements by an engine that is known: the C++ library moves numbers of places, and the elements
/// follow. False: not known.
bool Interpreter::shuffle(const Place& first, std::int64_t count, const clang::Expr* by) {
  const auto state = state_at(place_of(by));
  RandomEngine* engine = engine_in(state);
  if (engine == nullptr || first.memory == nullptr || first.memory->text) return false;
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), first.key);
  std::visit([&](auto& e) { std::shuffle(order.begin(), order.end(), e); }, *engine);
  std::vector<Value> moved;
  for (const std::int64_t from : order) moved.push_back(load({first.memory, from}, by));
  for (std::int64_t k = 0; k < count; ++k) store({first.memory, first.key + k}, moved[static_cast<std::size_t>(k)]);
  return true;
}

}  // namespace kernelcast::frontend::host
