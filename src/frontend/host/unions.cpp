// Members of unions. The slots of a union are its members that hold what was written last; another member that is read
// gets its value from the bytes of one of those. A member that is written makes the others go.
#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

/// The member of a union that the expression names; null: it is none.
const clang::FieldDecl* member_of_union(const clang::Expr* e) {
  const auto* m = llvm::dyn_cast<clang::MemberExpr>(e->IgnoreParens());
  const auto* f = m == nullptr ? nullptr : llvm::dyn_cast<clang::FieldDecl>(m->getMemberDecl());
  return f != nullptr && f->getParent()->isUnion() ? f : nullptr;
}

}  // namespace

/// The largest member that holds the bytes of a union; null: none does.
const clang::FieldDecl* Interpreter::written_member(const clang::RecordDecl* record, const Memory& memory) const {
  const clang::FieldDecl* found = nullptr;
  for (const clang::FieldDecl* f : record->fields())
    if (memory.slots.contains(key_of(f)) && (found == nullptr || size_of(f->getType()) > size_of(found->getType())))
      found = f;
  return found;
}

/// Before the member is read whose union the memory is.
void Interpreter::settle_union(const clang::Expr* member, const MemoryRef& memory) {
  const clang::FieldDecl* f = member_of_union(member);
  if (f == nullptr || memory->slots.contains(key_of(f))) return;
  const clang::FieldDecl* written = written_member(f->getParent(), *memory);
  if (written == nullptr) return;
  std::string bytes(static_cast<std::size_t>(std::max(size_of(written->getType()), size_of(f->getType()))), '\0');
  const Value& held = memory->slots.at(key_of(written));
  if (held.never_written || size_of(f->getType()) > size_of(written->getType()) ||
      !write_bytes(bytes, 0, written->getType(), held))
    return;
  memory->slots[key_of(f)] = from_bytes(bytes, 0, f->getType(), line_of(member));
}

/// After the target was written, which may be a part of a member.
void Interpreter::forget_other_members(const clang::Expr* target) {
  for (const clang::Expr* e = target->IgnoreParenImpCasts(); e != nullptr;) {
    if (const clang::FieldDecl* f = member_of_union(e)) {
      const Place place = place_of(e);
      if (place.memory != nullptr)
        for (const clang::FieldDecl* other : f->getParent()->fields())
          if (other != f) place.memory->slots.erase(key_of(other));
    }
    const auto* m = llvm::dyn_cast<clang::MemberExpr>(e);
    const auto* a = llvm::dyn_cast<clang::ArraySubscriptExpr>(e);
    if (m != nullptr && !m->isArrow())
      e = m->getBase()->IgnoreParenImpCasts();
    else
      e = a != nullptr ? a->getBase()->IgnoreParenImpCasts() : nullptr;
  }
}

void Interpreter::initialize_member(const MemoryRef& memory, const clang::CXXCtorInitializer* initializer) {
  const clang::FieldDecl* member = initializer->getAnyMember();
  if (member == nullptr || member->getType()->isReferenceType()) return;
  MemoryRef holder = memory;
  if (const clang::IndirectFieldDecl* path = initializer->getIndirectMember())
    for (const clang::NamedDecl* part : path->chain().drop_back()) {
      const auto* field = llvm::cast<clang::FieldDecl>(part);
      Value& held = holder->slots[key_of(field)];
      if (held.kind != Value::Kind::object || held.place.memory == nullptr)
        held = empty_of(field->getType(), "it has no value yet", line_of(initializer->getInit()));
      if (held.place.memory == nullptr) return;
      holder = held.place.memory;
    }
  Value value = converted(copied(evaluate(initializer->getInit())), member->getType());
  if (member->getParent()->isUnion()) holder->slots.clear();
  holder->slots[key_of(member)] = std::move(value);
}

}  // namespace kernelcast::frontend::host
