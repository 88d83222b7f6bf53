// Evaluates host functions on Clang's syntax tree. Each statement and expression is a step, and steps are limited. A
// value that cannot be told is a value of its own that says why; what depends on it is not known either.
//
// Loops without a launch may take a share of the steps each. One that takes more gets another share, in which loops
// inside it are passed over; then it is left, and what it writes is not known from there. A branch whose condition is
// not known is taken where it launches, and passed by where it only leaves.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "frontend/host/host_value.h"
#include "frontend/source/system_files.h"

namespace kernelcast::frontend::host {

/// The program has ended, by itself or by a limit.
struct ProgramEnd {
  std::string why;
  int line = 0;
};

/// Processor time of this thread.
class ProcessorClock {
 public:
  ProcessorClock();
  [[nodiscard]] double seconds() const { return now() - begin_; }

 private:
  static double now();
  double begin_;
};

/// Whether a name is one of several.
struct OneOf {
  const std::string& name;
  bool operator()(std::initializer_list<const char*> names) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

inline const clang::CXXRecordDecl* class_of(clang::QualType type) {
  return type.isNull() ? nullptr : type.getNonReferenceType()->getAsCXXRecordDecl();
}

/// Whether it is a class of the C++ library with one of the names.
inline bool is_std(const clang::CXXRecordDecl* record, std::initializer_list<const char*> names) {
  return record != nullptr && record->isInStdNamespace() &&
         std::any_of(names.begin(), names.end(), [&](const char* n) { return record->getName() == n; });
}

/// The key of x, y and z in a dim3.
constexpr std::int64_t dimension_key(std::int64_t axis) { return -10 - axis; }

class CRandom;
class Random48;

class Interpreter {
 public:
  /// `readable`: folders outside which no file is read; empty: any.
  Interpreter(clang::ASTContext& context, const HostOptions& options, std::vector<std::string> readable);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  HostProgram run();

 private:
  enum class Flow : std::uint8_t { next, leave_loop, next_iteration, leave_function, go_to };
  struct Frame {
    const clang::FunctionDecl* function = nullptr;
    std::map<const clang::VarDecl*, Place> variables;
    std::optional<Value> self;  // pointer: *this
    Value result;
  };
  struct Elements {
    MemoryRef memory;
    Value count;
  };
  struct LongOption {
    std::string name;
    int takes = 0;  // 1: an argument, 2: may have one
    Value flag;
    std::int64_t value = 0;
  };
  /// What is not known and under which evaluation stands; `repeats`: how often it is evaluated is not known.
  struct Condition {
    std::string text;
    bool repeats = false;
  };
  struct Callback {
    const clang::FunctionDecl* function = nullptr;
    std::string taker;  // the function that it was given to
    int line = 0;
  };
  struct Symbol {
    MemoryRef memory;
    HostBuffer contents;  // without elements where they are not known
    std::string key;      // tells them from others
  };
  struct OptionRead {
    std::int64_t value = 0;
    Value argument;
    std::optional<std::size_t> index;  // of a long option
    std::int64_t next = 0;             // optind behind it; 0: inside a word
  };

  // interpreter.cpp: statements
  Flow execute(const clang::Stmt* statement);
  Flow execute_if(const clang::IfStmt* statement);
  Flow execute_loop(const clang::Stmt* loop, const clang::Expr* condition, const clang::Expr* step,
                    const clang::Stmt* body, bool body_first);
  bool ends_with_its_call(const clang::Stmt* part);
  bool only_checks(const clang::Stmt* loop);
  std::size_t behind_last_launch(const clang::CompoundStmt* block);
  Flow execute_compound(const clang::CompoundStmt* statement);
  void leave_long_loop(const clang::Stmt* loop, std::int64_t begin, bool inside);
  Flow execute_range(const clang::CXXForRangeStmt* loop);
  Flow execute_switch(const clang::SwitchStmt* statement);
  void declare(const clang::VarDecl* variable);
  void step(const clang::Stmt* statement);
  void note(const std::string& text);
  void assume(const std::string& text);
  void run_function(const clang::FunctionDecl* function, bool give_arguments,
                    const std::optional<Condition>& condition = {});
  Flow execute_where_unknown(const clang::Stmt* branch, const std::string& condition);

  // effects.cpp: what a statement may do, without doing it
  bool launches(const clang::Stmt* statement);
  bool launches(const clang::FunctionDecl* function);
  void find_overriders();
  bool may_launch(clang::QualType function_pointer);
  bool leaves(const clang::Stmt* statement);
  bool breaks(const clang::Stmt* statement);
  static bool is_loop(const clang::Stmt* s);
  static bool is_of_the_runtime(const clang::FunctionDecl* f);
  bool holds_loop(const clang::Stmt* s, bool calls = true);
  static bool returns(const clang::Stmt* branch);
  void forget_written(const clang::Stmt* statement, const std::string& why);
  void forget_elements(Memory& memory, const std::string& why, int line) const;
  void forget(const Place& place, const std::string& why, int line);
  bool only_reads(const clang::FunctionDecl* function, unsigned parameter);

  // host_expressions.cpp
  Value evaluate(const clang::Expr* expression);
  std::optional<Value> constant_of(const clang::Expr* expression);
  Place place_of(const clang::Expr* expression);
  Value load(const Place& place, const clang::Expr* expression);
  void store(const Place& place, Value value);
  void store_at(const clang::Expr* target, const Place& place, const Value& value);
  Value evaluate_unary(const clang::UnaryOperator* expression);
  Value evaluate_binary(const clang::BinaryOperator* expression);
  Value binary(clang::BinaryOperatorKind kind, const Value& left, const Value& right, clang::QualType left_type,
               clang::QualType type, int line);
  Value evaluate_cast(const clang::CastExpr* expression);
  Value evaluate_lambda(const clang::LambdaExpr* lambda);
  Value converted(Value value, clang::QualType type);
  Place variable(const clang::VarDecl* variable);

  // calls.cpp
  Value evaluate_call(const clang::CallExpr* call);
  Value evaluate_construction(const clang::CXXConstructExpr* expression);
  Value construct_thread(const clang::Expr* const* arguments, unsigned count);
  Value evaluate_new(const clang::CXXNewExpr* expression);
  Value call_body(const clang::FunctionDecl* function, const clang::Expr* const* arguments, unsigned count,
                  std::optional<Value> self, int line);
  /// Sets what a constructor's initializer gives to a member, which may be one of a union without a name.
  void initialize_member(const MemoryRef& memory, const clang::CXXCtorInitializer* initializer);
  Value construct_into(const MemoryRef& memory, const clang::CXXConstructExpr* expression);
  void construct_base(const MemoryRef& memory, const clang::Expr* init);
  const clang::FunctionDecl* overriding(const clang::CXXMethodDecl* method, const Value& self) const;
  Value unknown_call(const clang::CallExpr* call, const std::string& name);

  // driver_calls.cpp
  std::optional<Value> driver_call(const std::string& name, const clang::CallExpr* call);
  const clang::FunctionDecl* kernel_named(const std::string& name);
  std::vector<Value> pointed_arguments(const clang::FunctionDecl* kernel, const Value& list,
                                       const clang::CallExpr* call);
  void kernel_unknown(const clang::CallExpr* call);
  void keep_callback(const Value& value, const std::string& taker, int line);
  void run_callbacks();

  // occupancy_calls.cpp
  const HostKernel* resources_of(const Value& kernel);
  Value active_clusters(const Value& kernel, const clang::CallExpr* call);
  Value resident_blocks(const Value& kernel, const Value& threads, const Value& shared, int line);
  void best_block(const Value& grid_into, const Value& block_into, const Value& kernel, const Value& shared,
                  const Value& most, int line);
  std::optional<Value> occupancy_call(const std::string& name, const clang::CallExpr* call);

  // library.cpp: functions of C, C++ and the GPU runtimes
  std::optional<Value> library_call(const std::string& name, const clang::CallExpr* call);
  std::optional<Value> runtime_call(const std::string& name, const clang::CallExpr* call);
  std::optional<Value> math_call(const std::string& name, const clang::CallExpr* call);
  std::optional<Value> vector_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method);
  Value new_element(const clang::CallExpr* call, clang::QualType type, unsigned first);
  Value construct_vector(const clang::CXXConstructExpr* expression);
  Value allocation(const Value& bytes, int line, bool zero, bool for_device);
  /// By a call of the form f(&pointer, bytes, ...) of the runtime or the driver; null: the pointer is not followed.
  MemoryRef allocate_for_device(const clang::CallExpr* call, bool in_host_memory);
  /// A call of the form f(&pointer, host pointer, ...).
  void allocate_rows(const clang::CallExpr* call, bool by_nvidia);
  static const clang::VarDecl* symbol_in(const clang::Expr* e);
  void copy_to_symbol(const clang::CallExpr* call);
  [[nodiscard]] std::map<std::string, HostBuffer> globals() const;
  void point_at_host_memory(const clang::CallExpr* call);
  std::optional<std::string> text_at(const Value& pointer);

  // contents.cpp: what the device finds in memory
  bool copy_to_device(const clang::Expr* into, const Value& to, const clang::Expr* from, const Value& source,
                      const Value& bytes, int line);
  void write_memory(const clang::CallExpr* call, bool set, const Value& into, const Value& from, const Value& bytes);
  bool set_bytes(const clang::Expr* into, const Value& to, const Value& byte, const Value& bytes);
  void add_contents(const Value& pointer, clang::QualType element, std::int64_t count, HostBuffer& b);
  bool write_bytes(std::string& out, std::int64_t at, clang::QualType type, const Value& value);
  bool write_fields(std::string& out, std::int64_t at, const clang::CXXRecordDecl* record, const Memory& memory);
  void add_fields(HostStructure& s, std::int64_t at, clang::QualType type, const Value& value);
  void add_members(HostStructure& s, std::int64_t at, const clang::CXXRecordDecl* record, const Memory& memory);
  clang::QualType pointee_of(const clang::Expr* pointer) const;
  static void forget_reachable(const Value& value, bool itself, int line);

  // strings.cpp
  bool is_string(clang::QualType type) const;
  std::optional<std::string> text_of(const Value& value);
  Value construct_string(const clang::CXXConstructExpr* expression);
  std::optional<Value> string_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method);
  std::optional<Value> string_operator(const clang::CXXOperatorCallExpr* call);
  std::optional<std::string> formatted(const std::string& format, const clang::CallExpr* call, unsigned next);
  std::optional<Value> text_call(const std::string& name, const clang::CallExpr* call);

  // associative.cpp
  std::optional<int> compared(const Value& a, const Value& b);
  bool is_associative(clang::QualType type) const;
  Value construct_associative(const clang::CXXConstructExpr* expression);
  Value key_in(const clang::CXXRecordDecl* record, const Value& element);
  std::optional<std::pair<std::int64_t, std::int64_t>> find_key(const Memory& memory,
                                                                const clang::CXXRecordDecl* record, const Value& key);
  std::optional<std::pair<std::int64_t, bool>> add_element(Memory& memory, const clang::CXXRecordDecl* record,
                                                           const Value& element, int line);
  std::optional<Value> associative_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method);
  Value as_pair(const Value& pair, clang::QualType from, clang::QualType to);

  // tuples.cpp
  bool is_tuple(clang::QualType type) const;
  Value made_tuple(clang::QualType type, const clang::Expr* const* given, unsigned count);
  Value construct_tuple(const clang::CXXConstructExpr* expression);
  std::optional<Value> assign_tuple(const clang::CXXOperatorCallExpr* call);
  std::optional<Value> tuple_call(const std::string& name, const clang::CallExpr* call);
  std::optional<Value> element_of(const clang::Expr* whole, unsigned k);

  // files.cpp
  [[nodiscard]] std::optional<std::string> data_file(const std::string& name) const;
  [[nodiscard]] std::shared_ptr<OpenFile> opened(const std::string& name) const;
  void store_text(const Value& into, const std::string& text, int line);
  static std::optional<Value> scanned_number(OpenFile& file, char letter, std::size_t width);
  Value scan(OpenFile& file, const std::string& format, const clang::CallExpr* call, unsigned first);
  Value from_bytes(const std::string& bytes, std::size_t at, clang::QualType type, int line);
  std::int64_t read_bytes(OpenFile& file, const clang::Expr* target, std::int64_t bytes);
  std::shared_ptr<OpenFile> file_given(const clang::CallExpr* call, unsigned of);
  std::optional<Value> file_call(const std::string& name, const clang::CallExpr* call);
  static void seek(OpenFile& file, std::int64_t by, int from);

  // streams.cpp
  bool is_stream(clang::QualType type) const;
  static std::shared_ptr<OpenFile> file_at(const Place& stream);
  void open_stream(const MemoryRef& stream, const clang::Expr* name, const clang::Expr* mode);
  Value construct_stream(const clang::CXXConstructExpr* expression);
  Value read_from_stream(const clang::CXXOperatorCallExpr* call);
  std::optional<Value> write_to_stream(const clang::CXXOperatorCallExpr* call);
  std::optional<Value> stream_operator(const clang::CXXOperatorCallExpr* call);
  std::optional<Value> line_call(const std::string& name, const clang::CallExpr* call);
  std::optional<Value> stream_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method);

  // random.cpp
  bool is_random(clang::QualType type) const;
  static bool draws(const clang::CallExpr* call);
  std::optional<std::uint64_t> seed_in(const Value& given, const clang::Stmt* at, const std::string& what);
  [[nodiscard]] Value drawn(const Value& value, const std::string& what, int line);
  std::optional<Value> c_random_call(const std::string& name, const clang::CallExpr* call);
  Value construct_random(const clang::CXXConstructExpr* expression);
  std::optional<Value> random_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method);
  bool shuffle(const Place& first, std::int64_t count, const clang::Expr* by);

  // containers.cpp
  bool is_iterator(clang::QualType type) const;
  Elements elements_of(const clang::Expr* expression);
  std::optional<Value> array_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method);
  /// Elements that std::vector::insert adds: one, a number of copies, or a range; nothing: not known.
  std::optional<std::vector<Value>> inserted(const clang::Expr* call, const clang::Expr* first,
                                             const clang::Expr* last);
  std::optional<Value> iterator_operator(const clang::CXXOperatorCallExpr* call);
  std::optional<Value> algorithm_call(const std::string& name, const clang::CallExpr* call);
  std::optional<Value> function_object_call(const clang::CXXOperatorCallExpr* call);

  // getopt.cpp
  std::optional<std::vector<LongOption>> long_options(const clang::Expr* expression);
  bool read_options(const clang::CallExpr* call, const std::vector<LongOption>& known_words, bool single_dash);
  std::optional<Value> option_call(const std::string& name, const clang::CallExpr* call);
  Place& option_argument();
  Place& option_index();

  // tensor_maps.cpp
  std::optional<Value> tensor_map_call(const clang::CallExpr* call);
  static std::optional<HostTensorMap> tensor_map_in(const Value& value);
  bool copy_tensor_map(const Value& into, const Value& from);

  // launch_calls.cpp
  Value launch_by_chevrons(const clang::CUDAKernelCallExpr* call);
  Value launch_by_function(const clang::CallExpr* call, const std::string& name);
  void record(const clang::FunctionDecl* kernel, const Value& grid, const Value& block, const Value& shared,
              const std::vector<Value>& arguments, int line, const std::string& file,
              const std::array<HostNumber, 3>& cluster = {0, 0, 0});
  std::array<HostNumber, 3> cluster_of(const Value& configuration, clang::QualType type, const clang::CallExpr* call);
  void record_named(const std::string& kernel, const Value& grid, const Value& block, const Value& shared, int line,
                    const std::string& file);
  void add_launch(HostLaunch launch, const Value& grid, const Value& block, const Value& shared);
  HostNumber dimension(const Value& value, int axis);
  HostBuffer buffer_at(const Value& value, clang::QualType type);
  HostStructure structure(clang::QualType type, const Value& value);
  HostArgument argument(const clang::ParmVarDecl* parameter, const Value& value);
  void merge(HostArgument& first, const HostArgument& further);
  void merge(HostBuffer& first, const HostBuffer* further);
  std::int64_t number_of(const MemoryRef& memory);
  void mark_arrays();
  std::int64_t in_elements(clang::QualType pointer) const;

  [[nodiscard]] int line_of(const clang::Stmt* statement) const;
  [[nodiscard]] int line_of(clang::SourceLocation at) const;

  // objects.cpp
  Value zero_of(clang::QualType type);
  // unions.cpp
  void settle_union(const clang::Expr* member, const MemoryRef& memory);
  void forget_other_members(const clang::Expr* target);
  const clang::FieldDecl* written_member(const clang::RecordDecl* record, const Memory& memory) const;
  // wide.cpp
  bool is_wide(clang::QualType type) const;
  Value narrowed(const Value& value, clang::QualType type);
  static Value wide_binary(clang::BinaryOperatorKind kind, const Value& left, const Value& right, clang::QualType type,
                           int line);
  Value empty_of(clang::QualType type, const std::string& why, int line);
  Place temporary(Value value);
  Value evaluate_list(const clang::InitListExpr* list);
  [[nodiscard]] std::int64_t size_of(clang::QualType type) const;  // 0: not known
  bool is_dim3(clang::QualType type) const;
  const clang::FieldDecl* field_named(const clang::CXXRecordDecl* record, const std::string& name) const;
  Value field(const Value& object, clang::QualType type, const std::string& name, int line);
  bool is_of_the_system(clang::SourceLocation place) const {
    return system_files_.hold(context_.getSourceManager(), place);
  }
  void miss(const clang::NamedDecl* declaration);  // its definition is in another file
  void miss(const std::string& name);
  std::string symbol_of(const clang::FunctionDecl* kernel) const;
  std::string file_of(const clang::FunctionDecl* kernel) const;
  static std::int64_t key_of(const clang::FieldDecl* field);

  clang::ASTContext& context_;
  const HostOptions& options_;
  std::vector<std::string> readable_;
  std::unique_ptr<clang::MangleContext> mangle_;
  HostProgram program_;
  std::map<std::string, std::size_t> known_launches_;
  std::int64_t contents_left_ = 64 << 20;  // bytes of buffers that are handed on, of all launches
  std::vector<std::unique_ptr<Frame>> frames_;
  std::map<const clang::VarDecl*, Place> globals_;
  std::map<std::string, const clang::FunctionDecl*> kernels_;  // by name and by symbol
  std::vector<Callback> callbacks_;
  std::vector<MemoryRef> arrays_;  // that launches take
  mutable SystemFiles system_files_;
  std::map<const clang::FunctionDecl*, bool> launching_;
  std::map<const clang::ParmVarDecl*, bool> only_read_;  // what pointers in parameters lead to
  std::map<const clang::CXXMethodDecl*, std::vector<const clang::CXXMethodDecl*>> overriders_;
  bool overriders_found_ = false;
  std::map<const clang::Type*, bool> launching_types_;  // of functions that are called through pointers
  std::map<const clang::Stmt*, bool> launching_statements_;
  std::map<const clang::CompoundStmt*, std::size_t> last_launches_;
  std::vector<Condition> conditions_;
  ProcessorClock clock_;
  std::int64_t steps_ = 0;
  std::int64_t loop_begin_ = 1;  // of steps, for the outermost loop without a launch
  bool skimming_ = false;        // it has had its share: loops inside are passed over while it gets a second one
  std::int64_t loop_left_ = 0;   // which evaluation of a loop is left as too long; 0: none
  bool left_is_flat_ = false;    // of that loop: no other stands in it or around it
  std::int64_t loop_end_ = 0;    // of steps, for the outermost loop without a launch; 0: none
  bool repeats_unknown_ = false;
  std::unique_ptr<CRandom> c_random_;
  std::unique_ptr<Random48> random48_;
  int draws_passed_over_ = 0;  // the line of a loop or branch that draws and was not evaluated; 0: none
  std::string unknown_break_;  // of the innermost loop: why it may have ended before
  std::map<const clang::VarDecl*, Symbol> symbols_;  // variables of the device that the host has written
  bool behind_launches_ = false;                     // no launch follows
  bool more_launches_ = false;                       // behind the statement at hand, or in another part of it
  std::set<const clang::Stmt*> ends_passed_;  // of the innermost loop: branches that end it and may have been taken
  const clang::LabelDecl* target_ = nullptr;  // of the goto on its way
  std::deque<OptionRead> options_read_;
  std::int64_t options_end_ = 1;
  bool options_started_ = false;
  Place option_argument_, option_index_;
};

}  // namespace kernelcast::frontend::host
