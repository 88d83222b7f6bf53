// Conversions of a row. For handlers_impl.h alone.
namespace kernelcast::interpreter::KERNELCAST_HANDLERS {
namespace {

template <class F>
Handler with_integer(ValueType t, F f) {
  switch (t) {
    case ValueType::i1:
    case ValueType::i8:
      return f(std::uint8_t{});
    case ValueType::i16:
      return f(std::uint16_t{});
    case ValueType::i32:
      return f(std::uint32_t{});
    case ValueType::i64:
      return f(std::uint64_t{});
    case ValueType::i128:
      return f(U128{});
    default:
      return nullptr;
  }
}
template <class F>
Handler with_real(ValueType t, F f) {
  switch (t) {
    case ValueType::f16:
      return f(Half{});
    case ValueType::f32:
      return f(float{});
    case ValueType::f64:
      return f(double{});
    default:
      return nullptr;
  }
}
// As bits: what only moves values.
template <class F>
Handler with_bits(ValueType t, F f) {
  switch (t) {
    case ValueType::f16:
      return f(std::uint16_t{});
    case ValueType::f32:
      return f(std::uint32_t{});
    case ValueType::f64:
      return f(std::uint64_t{});
    default:
      return with_integer(t, f);
  }
}

template <class A, class D>
void extend_unsigned(unsigned char* file, const PreparedOp& p) {
  unary_row<D, A>(file, p, [](A a) { return static_cast<D>(a); });
}
template <class A, class D>
void extend_signed(unsigned char* file, const PreparedOp& p) {
  unary_row<D, A>(file, p, [](A a) { return static_cast<D>(static_cast<Signed<D>>(static_cast<Signed<A>>(a))); });
}
template <class D>
void extend_bool(unsigned char* file, const PreparedOp& p) {
  unary_row<D, std::uint8_t>(file, p, [](std::uint8_t a) { return static_cast<D>(D{0} - static_cast<D>(a)); });
}
template <class A>
void to_bool(unsigned char* file, const PreparedOp& p) {
  unary_row<std::uint8_t, A>(file, p, [](A a) { return static_cast<std::uint8_t>(a & 1U); });
}

Handler integer_conversion(const SimtInstruction& i) {
  if (i.op == Opcode::truncate && i.to == ValueType::i1)
    return with_integer(i.type, [](auto a) -> Handler { return to_bool<decltype(a)>; });
  if (i.op == Opcode::sign_extend && i.type == ValueType::i1)
    return with_integer(i.to, [](auto d) -> Handler { return extend_bool<decltype(d)>; });
  const bool is_signed = i.op == Opcode::sign_extend;
  return with_integer(i.type, [&](auto a) -> Handler {
    using From = decltype(a);
    return with_integer(i.to, [&](auto d) -> Handler {
      if (is_signed) return extend_signed<From, decltype(d)>;
      return extend_unsigned<From, decltype(d)>;
    });
  });
}

template <class A, class D, bool is_signed>
void to_integer(unsigned char* file, const PreparedOp& p) {
  using W = typename Wide<A>::type;
  using I = std::conditional_t<is_signed, Signed<D>, D>;
  unary_row<D, A>(file, p, [](A a) { return static_cast<D>(clamped<I, W>(static_cast<W>(a))); });
}
template <class A, class D, bool is_signed>
void from_integer(unsigned char* file, const PreparedOp& p) {
  using I = std::conditional_t<is_signed, Signed<A>, A>;
  unary_row<D, A>(file, p, [](A a) {
    if constexpr (std::is_same_v<D, Half>)
      return Half(static_cast<double>(static_cast<I>(a)));
    else
      return static_cast<D>(static_cast<I>(a));
  });
}
template <class A, class D>
void real_to_real(unsigned char* file, const PreparedOp& p) {
  unary_row<D, A>(file, p, [](A a) {
    if constexpr (std::is_same_v<D, Half> && std::is_same_v<A, Half>)
      return a;
    else
      return static_cast<D>(a);
  });
}

template <bool is_signed>
Handler float_conversion(const SimtInstruction& i) {
  const bool out = i.op == Opcode::float_to_signed || i.op == Opcode::float_to_unsigned;
  return with_real(out ? i.type : i.to, [&](auto r) -> Handler {
    using Real = decltype(r);
    return with_integer(out ? i.to : i.type, [&](auto n) -> Handler {
      using Integer = decltype(n);
      if constexpr (sizeof(Integer) == 16)
        return nullptr;
      else if (out)
        return to_integer<Real, Integer, is_signed>;
      else
        return from_integer<Integer, Real, is_signed>;
    });
  });
}

}  // namespace
}  // namespace kernelcast::interpreter::KERNELCAST_HANDLERS
