// What device code uses of Thrust: pointers, tuples, complex numbers, function objects. Algorithms and vectors are the host's.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#define THRUST_VERSION 200200
namespace thrust {

using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::tuple;
// The library's tuple of references is assigned to by host functions alone.
template <class... T> class __kc_tied {
 public:
  __host__ __device__ explicit __kc_tied(T&... v) : to_(v...) {}
  template <class From> __host__ __device__ const __kc_tied& operator=(const From& from) const {
    assign(from, std::index_sequence_for<T...>());
    return *this;
  }
  __host__ __device__ operator std::tuple<T&...>() const { return to_; }

 private:
  template <class From, std::size_t... I> __host__ __device__ void assign(const From& from, std::index_sequence<I...>) const {
    ((std::get<I>(to_) = std::get<I>(from)), ...);
  }
  std::tuple<T&...> to_;
};
template <class... T> __host__ __device__ __kc_tied<T...> tie(T&... v) { return __kc_tied<T...>(v...); }
template <int N, class T> struct tuple_element : std::tuple_element<N, T> {};

template <class T> class device_ptr {
 public:
  typedef T element_type;
  typedef T value_type;
  typedef std::add_lvalue_reference_t<T> reference;  // void for device_ptr<void>
  typedef long difference_type;
  __host__ __device__ device_ptr() : p_(nullptr) {}
  __host__ __device__ explicit device_ptr(T* p) : p_(p) {}
  template <class U> __host__ __device__ device_ptr(const device_ptr<U>& other) : p_(other.get()) {}
  __host__ __device__ T* get() const { return p_; }
  __host__ __device__ reference operator*() const { return *p_; }
  __host__ __device__ T* operator->() const { return p_; }
  template <class I> __host__ __device__ reference operator[](I i) const { return p_[i]; }
  __host__ __device__ device_ptr operator+(long n) const { return device_ptr(p_ + n); }
  __host__ __device__ device_ptr operator-(long n) const { return device_ptr(p_ - n); }
  __host__ __device__ long operator-(const device_ptr& other) const { return p_ - other.p_; }
  __host__ __device__ device_ptr& operator+=(long n) { p_ += n; return *this; }
  __host__ __device__ device_ptr& operator-=(long n) { p_ -= n; return *this; }
  __host__ __device__ device_ptr& operator++() { ++p_; return *this; }
  __host__ __device__ device_ptr& operator--() { --p_; return *this; }
  __host__ __device__ bool operator==(const device_ptr& other) const { return p_ == other.p_; }
  __host__ __device__ bool operator!=(const device_ptr& other) const { return p_ != other.p_; }
  __host__ __device__ bool operator<(const device_ptr& other) const { return p_ < other.p_; }

 private:
  T* p_;
};
template <class T> __host__ __device__ device_ptr<T> device_pointer_cast(T* p) { return device_ptr<T>(p); }
template <class T> __host__ __device__ T* raw_pointer_cast(T* p) { return p; }
template <class T> __host__ __device__ T* raw_pointer_cast(const device_ptr<T>& p) { return p.get(); }

template <class T> struct complex {
  typedef T value_type;
  T re, im;
  __host__ __device__ complex(T r = T(), T i = T()) : re(r), im(i) {}
  template <class U> __host__ __device__ complex(const complex<U>& c) : re((T)c.real()), im((T)c.imag()) {}
  __host__ __device__ T real() const { return re; }
  __host__ __device__ T imag() const { return im; }
  __host__ __device__ void real(T r) { re = r; }
  __host__ __device__ void imag(T i) { im = i; }
  __host__ __device__ complex& operator+=(const complex& c) { re += c.re, im += c.im; return *this; }
  __host__ __device__ complex& operator-=(const complex& c) { re -= c.re, im -= c.im; return *this; }
  __host__ __device__ complex& operator*=(const complex& c) { return *this = *this * c; }
  __host__ __device__ complex& operator/=(const complex& c) { return *this = *this / c; }
  __host__ __device__ friend complex operator+(const complex& a, const complex& b) { return complex(a.re + b.re, a.im + b.im); }
  __host__ __device__ friend complex operator-(const complex& a, const complex& b) { return complex(a.re - b.re, a.im - b.im); }
  __host__ __device__ friend complex operator-(const complex& a) { return complex(-a.re, -a.im); }
  __host__ __device__ friend complex operator*(const complex& a, const complex& b) { return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
  __host__ __device__ friend complex operator/(const complex& a, const complex& b) {
    const T n = b.re * b.re + b.im * b.im;
    return complex((a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n);
  }
  __host__ __device__ friend bool operator==(const complex& a, const complex& b) { return a.re == b.re && a.im == b.im; }
  __host__ __device__ friend bool operator!=(const complex& a, const complex& b) { return !(a == b); }
};
template <class T> __host__ __device__ complex<T> conj(const complex<T>& c) { return complex<T>(c.re, -c.im); }
template <class T> __host__ __device__ T norm(const complex<T>& c) { return c.re * c.re + c.im * c.im; }
template <class T> __host__ __device__ T abs(const complex<T>& c) { return (T)sqrt(norm(c)); }
template <class T> __host__ __device__ T arg(const complex<T>& c) { return (T)atan2(c.im, c.re); }
template <class T> __host__ __device__ complex<T> polar(T r, T angle) { return complex<T>(r * (T)cos(angle), r * (T)sin(angle)); }
template <class T> __host__ __device__ complex<T> exp(const complex<T>& c) { return polar((T)::exp(c.re), c.im); }

#define KC_FUNCTION(name, expression) \
  template <class T = void> struct name { __host__ __device__ T operator()(const T& a, const T& b) const { return expression; } };
KC_FUNCTION(plus, a + b) KC_FUNCTION(minus, a - b) KC_FUNCTION(multiplies, a * b) KC_FUNCTION(divides, a / b)
KC_FUNCTION(maximum, a < b ? b : a) KC_FUNCTION(minimum, b < a ? b : a) KC_FUNCTION(bit_and, a & b) KC_FUNCTION(bit_or, a | b)
#undef KC_FUNCTION
template <class T = void> struct less { __host__ __device__ bool operator()(const T& a, const T& b) const { return a < b; } };
template <class T = void> struct greater { __host__ __device__ bool operator()(const T& a, const T& b) const { return b < a; } };
template <class T = void> struct equal_to { __host__ __device__ bool operator()(const T& a, const T& b) const { return a == b; } };
template <class A, class R> struct unary_function { typedef A argument_type; typedef R result_type; };
template <class A, class B, class R> struct binary_function { typedef A first_argument_type; typedef B second_argument_type; typedef R result_type; };
template <class T> struct identity { __host__ __device__ const T& operator()(const T& v) const { return v; } };
template <class T> __host__ __device__ void swap(T& a, T& b) { T c = a; a = b; b = c; }

// Random numbers: the engine's product by Schrage's decomposition, as 32 bits hold it.
namespace random {
template <class U, U a, U c, U m> class linear_congruential_engine {
 public:
  typedef U result_type;
  static const U multiplier = a, increment = c, modulus = m, min = c == 0 ? 1 : 0, max = m - 1, default_seed = 1;
  __host__ __device__ explicit linear_congruential_engine(U s = 1) { seed(s); }
  __host__ __device__ void seed(U s = 1) { x_ = c % m == 0 && s % m == 0 ? 1 : s % m; }
  __host__ __device__ U operator()() {
    const U q = m / a, r = m % a, high = a * (x_ % q), low = r * (x_ / q);
    x_ = high >= low ? high - low : m - low + high;
    if (c != 0) x_ = x_ >= m - c ? x_ - (m - c) : x_ + c;
    return x_;
  }
  __host__ __device__ void discard(unsigned long long n) {
    unsigned long long by = a, all = 1, add = c, sum = 0;
    for (; n > 0; n /= 2) {
      if (n & 1) all = all * by % m, sum = (sum * by + add) % m;
      add = (by + 1) * add % m;
      by = by * by % m;
    }
    x_ = (U)((all * x_ + sum) % m);
  }

 private:
  U x_;
};
typedef linear_congruential_engine<unsigned int, 16807, 0, 2147483647> minstd_rand0;
typedef linear_congruential_engine<unsigned int, 48271, 0, 2147483647> minstd_rand;
typedef minstd_rand default_random_engine;
template <class T = double> class uniform_real_distribution {
 public:
  typedef T result_type;
  __host__ __device__ explicit uniform_real_distribution(T a = 0, T b = 1) : a_(a), b_(b) {}
  template <class E> __host__ __device__ T operator()(E& engine) const {
    return (T)(engine() - E::min) / ((T)(E::max - E::min) + 1) * (b_ - a_) + a_;
  }

 private:
  T a_, b_;
};
template <class T = int> class uniform_int_distribution {
 public:
  typedef T result_type;
  __host__ __device__ explicit uniform_int_distribution(T a = 0, T b = (T)(~0ull >> (65 - 8 * sizeof(T)))) : a_(a), b_(b) {}
  template <class E> __host__ __device__ T operator()(E& engine) const { return (T)uniform_real_distribution<double>(a_, (double)b_ + 1)(engine); }

 private:
  T a_, b_;
};
template <class T = double> class normal_distribution {
 public:
  typedef T result_type;
  __host__ __device__ explicit normal_distribution(T mean = 0, T deviation = 1) : mean_(mean), deviation_(deviation) {}
  template <class E> __host__ __device__ T operator()(E& engine) const {
    return mean_ - deviation_ * (T)1.4142135623730951 * (T)::erfcinv(2 * uniform_real_distribution<T>()(engine));
  }

 private:
  T mean_, deviation_;
};
}  // namespace random
using random::default_random_engine;
using random::linear_congruential_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::normal_distribution;
using random::uniform_int_distribution;
using random::uniform_real_distribution;

// Of the host, for its functions to be read; never called.
template <class T, class Pointer> struct __kc_vector {
  typedef T value_type;
  typedef Pointer iterator, pointer;
  template <class... A> __kc_vector(const A&...);
  iterator begin() const;
  iterator end() const;
  pointer data() const;
  size_t size() const;
  bool empty() const;
  T& operator[](size_t) const;
  T& back() const;
  T& front() const;
  void clear();
  void push_back(const T&);
  template <class... A> void resize(const A&...);
  template <class... A> void reserve(const A&...);
  template <class... A> void assign(const A&...);
};
template <class T, class = void> struct device_vector : __kc_vector<T, device_ptr<T>> { using __kc_vector<T, device_ptr<T>>::__kc_vector; };
template <class T, class = void> struct host_vector : __kc_vector<T, T*> { using __kc_vector<T, T*>::__kc_vector; };
template <class T> using universal_vector = host_vector<T>;
#define KC_ALGORITHM(name) template <class... A> void name(const A&...);
KC_ALGORITHM(sort) KC_ALGORITHM(stable_sort) KC_ALGORITHM(sort_by_key) KC_ALGORITHM(stable_sort_by_key) KC_ALGORITHM(fill) KC_ALGORITHM(sequence)
KC_ALGORITHM(for_each) KC_ALGORITHM(generate) KC_ALGORITHM(exclusive_scan) KC_ALGORITHM(inclusive_scan) KC_ALGORITHM(gather) KC_ALGORITHM(scatter)
KC_ALGORITHM(copy) KC_ALGORITHM(transform) KC_ALGORITHM(device_free)
#undef KC_ALGORITHM
struct __kc_policy { template <class... A> const __kc_policy& operator()(const A&...) const; template <class S> const __kc_policy& on(S) const; };
extern const __kc_policy device, host, seq;
namespace cuda { extern const __kc_policy par, par_nosync; }

}  // namespace thrust
