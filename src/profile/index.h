// An index expression of the profile (an address, a condition, a trip count) prepared for three questions: what is it
// on a whole box, is it linear there, and what is it for each lane.
#pragma once

#include <memory>
#include <optional>

#include "core/bounds.h"
#include "profile/box.h"
#include "profile/constants.h"

namespace kernelcast {

/// What is known of an expression on a box: sum of linear[v] * v over `linear_mask`, plus a rest within `rest` that
/// depends on the variables of `rest_mask` in some other way. Variables with one value in the box are constants.
struct Shape {
  VariableMask linear_mask = 0, rest_mask = 0;
  Bounds rest = Bounds::point(0);
  std::array<std::int64_t, max_variables> linear;  // entries outside linear_mask are not set

  [[nodiscard]] VariableMask mask() const { return linear_mask | rest_mask; }
  [[nodiscard]] Bounds range(const Box& box) const;
};

/// After `length` steps of a variable an expression has grown by `step`, wherever one starts.
struct Period {
  std::int64_t length = 1, step = 0;
  double turns = 0;  // how often a quotient or remainder inside begins anew, for one step of the variable
};

class Index {
 public:
  Index() = default;
  /// Splits `e` into launch constants (put into the pool) and variables of the scope.
  Index(const Expr& e, const Scope& scope, ConstantPool& pool);

  /// Linear in all variables with launch constants as coefficients, on every box.
  [[nodiscard]] bool affine() const { return affine_; }
  [[nodiscard]] VariableMask mask() const { return mask_; }
  [[nodiscard]] const Expr& expression() const { return expression_; }
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }

  struct LinearTerm {
    int variable;
    int slot;
  };
  [[nodiscard]] const std::vector<LinearTerm>& terms() const { return terms_; }
  [[nodiscard]] int constant_slot() const { return constant_slot_; }

  /// Sound and exact where linear.
  void shape_on(const Box& box, const ConstantPool& pool, Shape& out);
  [[nodiscard]] Bounds range_on(const Box& box, const ConstantPool& pool);
  /// How the expression repeats along a variable within the box of the last shape_on(), whose result `shape` is;
  /// nothing where that is not known.
  [[nodiscard]] std::optional<Period> period(int variable, const Shape& shape, const ConstantPool& pool);

 private:
  struct Product {
    int slot;
    std::vector<std::pair<int, std::uint32_t>> factors;
  };  // (node, exponent)
  struct Node {
    enum class Kind : std::uint8_t { variable, sum, operation } kind;
    int variable = 0;
    int constant_slot = 0;
    std::vector<Product> products;
    Op op = Op::min;
    std::vector<int> operands;
  };
  struct Builder;

  void sum_shape(const Node& n, const Box& box, const ConstantPool& pool, Shape& out);
  void operation_shape(const Node& n, const Box& box, Shape& out);
  [[nodiscard]] std::optional<Period> sum_period(const Node& n, const ConstantPool& pool) const;
  [[nodiscard]] std::optional<Period> operation_period(const Node& n) const;

  Expr expression_;
  VariableMask mask_ = 0;
  bool affine_ = false;
  std::vector<LinearTerm> terms_;
  int constant_slot_ = 0;
  std::vector<Node> nodes_;  // operands before users, the root last
  std::vector<Shape> values_;
  std::vector<std::optional<Period>> periods_;
};

}  // namespace kernelcast
