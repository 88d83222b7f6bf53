// Kernels and device functions become functions, variables become globals. Lines are those of `.loc`, or else of the
// PTX text. A kernel's parameters are pointers where the text says so (.ptr, cvta.to) or an access has one for its
// base.
#include "frontend/lift/lift.h"

#include <filesystem>
#include <map>

#include "frontend/lift/lifter.h"
#include "frontend/source/kernels.h"
#include "kernelcast/error.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "ptx/parse.h"
#include "ptx/requirements.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

constexpr const char* ptx_mark = "kernelcast.ptx";

StringRef ref(std::string_view s) { return {s.data(), s.size()}; }

[[noreturn]] void not_lifted(const std::string& file, const NotLifted& e) {
  throw LimitError(
      file + ":" + std::to_string(e.place.line) + ":" + std::to_string(e.place.column) + ": " + e.what +
      ": this PTX is not understood; compile the kernel from source instead, or leave the instruction out");
}

class ModuleLifter {
 public:
  ModuleLifter(const ptx::Module& from, Module& into, const std::string& path)
      : from_(from), into_(into), path_(path), debug_(into) {}

  void run(const std::string& wanted) {
    into_.setTargetTriple("nvptx64-nvidia-cuda");
    into_.setDataLayout("e-i64:64-i128:128-v16:16-v32:32-n16:32:64");
    into_.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
    into_.getOrInsertNamedMetadata(ptx_mark);
    const std::filesystem::path whole(path_);
    main_file_ = debug_.createFile(path_, ".");
    unit_ = debug_.createCompileUnit(dwarf::DW_LANG_C_plus_plus, main_file_, "kernelcast", true, "", 0, "",
                                     DICompileUnit::LineTablesOnly);
    for (const ptx::Variable& v : from_.globals) global(v);
    for (const ptx::Function& f : from_.functions) declare(f);
    for (const ptx::Function& f : from_.functions) {
      if (!f.has_body) continue;
      try {
        body(f);
      } catch (const NotLifted& e) {
        if (!f.is_entry || wanted.empty() || means_kernel(entry_named(f), wanted)) not_lifted(path_, e);
        functions_.at(f.name)->deleteBody();
        functions_.at(f.name)->setCallingConv(CallingConv::C);
      }
    }
    debug_.finalize();
  }

 private:
  static KernelEntry entry_named(const ptx::Function& f) {
    KernelEntry entry;
    entry.symbol = std::string(f.name);
    entry.demangled = llvm::demangle(entry.symbol);
    entry.plain = without_parameters(entry.demangled);
    return entry;
  }

  Type* type_of(ptx::Type t) {
    LLVMContext& c = into_.getContext();
    if (t == ptx::Type::f32) return Type::getFloatTy(c);
    if (t == ptx::Type::f64) return Type::getDoubleTy(c);
    return Type::getIntNTy(c, static_cast<unsigned>(std::max(ptx::bits_of(t), 8)));
  }

  /// Bytes with the alignment that is written: accesses say what is in them.
  Type* bytes_type(const ptx::Variable& v) {
    Type* element = type_of(v.type);
    const auto bytes = ptx::bytes_of(v);
    const std::uint64_t size = std::max<std::uint64_t>(element->getPrimitiveSizeInBits().getFixedValue() / 8, 1);
    return v.is_array || v.vector > 1 ? ArrayType::get(element, bytes / size) : element;
  }

  void global(const ptx::Variable& v) {
    if (v.space == ptx::Space::tex || v.type == ptx::Type::texref || v.type == ptx::Type::surfref ||
        v.type == ptx::Type::samplerref)
      return;
    globals_[v.name] = variable(v, std::string(v.name));
  }

  GlobalVariable* variable(const ptx::Variable& v, const std::string& name) {
    Type* type = bytes_type(v);
    const bool shared = v.space == ptx::Space::shared;
    Constant* start = nullptr;
    const bool outside = v.linkage == ptx::Linkage::extern_;
    if (!outside) start = shared ? static_cast<Constant*>(UndefValue::get(type)) : initial(v, type);
    auto* g = new GlobalVariable(into_, type, v.space == ptx::Space::constant,
                                 outside ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage, start, name,
                                 nullptr, GlobalValue::NotThreadLocal, address_space(v.space));
    g->setAlignment(Align(std::max<std::uint64_t>(ptx::alignment_of(v), 1)));
    // The host may write constants, and what no value is written for. Other tables are the compiler's own.
    if (!outside && !shared) g->setExternallyInitialized(v.space == ptx::Space::constant || v.values.empty());
    return g;
  }

  static Constant* initial(const ptx::Variable& v, Type* type) {
    auto* array = dyn_cast<ArrayType>(type);
    if (v.values.empty() || !v.addresses.empty()) return Constant::getNullValue(type);
    const auto number = [](Type* t, std::uint64_t bits) -> Constant* {
      if (t->isIntegerTy()) return ConstantInt::get(t, bits);
      return ConstantFP::get(t->getContext(), t->isFloatTy() ? APFloat(APFloat::IEEEsingle(), APInt(32, bits))
                                                             : APFloat(APFloat::IEEEdouble(), APInt(64, bits)));
    };
    if (!array) return number(type, v.values[0]);
    std::vector<Constant*> elements;
    for (std::uint64_t k = 0; k < array->getNumElements(); ++k)
      elements.push_back(number(array->getElementType(), k < v.values.size() ? v.values[k] : 0));
    return ConstantArray::get(array, elements);
  }

  /// "f_param_3" of a function f is param_3; other names are the compiler's or the user's own.
  static std::string parameter_name(const ptx::Function& f, const ptx::Variable& p) {
    std::string_view name = p.name;
    if (name.starts_with(f.name) && name.size() > f.name.size() + 1) name.remove_prefix(f.name.size() + 1);
    return std::string(name);
  }

  void declare(const ptx::Function& f) {
    LLVMContext& c = into_.getContext();
    std::vector<Type*> types;
    for (const ptx::Variable& p : f.params)
      types.push_back(p.is_array || p.vector > 1 ? PointerType::get(c, 0) : type_of(p.type));
    Type* result = Type::getVoidTy(c);
    if (!f.returns.empty()) result = bytes_type(f.returns[0]);
    Function* made =
        Function::Create(FunctionType::get(result, types, false), GlobalValue::ExternalLinkage, ref(f.name), &into_);
    for (unsigned k = 0; k < types.size(); ++k) {
      made->getArg(k)->setName(parameter_name(f, f.params[k]));
      if (!types[k]->isPointerTy()) continue;
      AttrBuilder attributes(c);
      attributes.addByValAttr(bytes_type(f.params[k]));
      attributes.addAlignmentAttr(Align(std::max<std::uint64_t>(ptx::alignment_of(f.params[k]), 1)));
      made->addParamAttrs(k, attributes);
    }
    if (f.is_entry) {
      made->setCallingConv(CallingConv::PTX_Kernel);
      limits(f, *made);
    }
    functions_[f.name] = made;
  }

  void limits(const ptx::Function& f, Function& made) {
    LLVMContext& c = into_.getContext();
    std::vector<Metadata*> note{ValueAsMetadata::get(&made)};
    const auto add = [&](const char* key, std::uint32_t value) {
      if (value == 0) return;
      note.push_back(MDString::get(c, key));
      note.push_back(ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(c), value)));
    };
    const auto& d = f.directives;
    const char* cluster[3] = {"cluster_dim_x", "cluster_dim_y", "cluster_dim_z"};
    const char* axes[2][3] = {{"maxntidx", "maxntidy", "maxntidz"}, {"reqntidx", "reqntidy", "reqntidz"}};
    for (unsigned a = 0; a < 3; ++a) {
      add(axes[0][a], d.maxntid[a]);
      add(axes[1][a], d.reqntid[a]);
      add(cluster[a], d.reqnctapercluster[a]);
    }
    add("minctasm", d.minnctapersm);
    add("maxnreg", d.maxnreg);
    if (note.size() > 1) into_.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(MDNode::get(c, note));
    if (d.reqntid[0] == 0) return;
    std::vector<Metadata*> size;
    for (const std::uint32_t n : d.reqntid)
      size.push_back(ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(c), std::max(n, 1U))));
    made.setMetadata("reqd_work_group_size", MDNode::get(c, size));
  }

  DIFile* file(std::uint32_t number) {
    for (const ptx::File& f : from_.files)
      if (f.number == number) {
        const std::filesystem::path p{std::string(f.path)};
        return debug_.createFile(p.string(), ".");
      }
    return main_file_;
  }

  void body(const ptx::Function& f) {
    Function& into = *functions_.at(f.name);
    std::uint32_t first_line = f.place.line;
    std::uint32_t first_file = 0;
    bool with_lines = false;
    for (const ptx::Instruction& i : f.body)
      if (i.location >= 0 && !with_lines) {
        const ptx::Location* l = &from_.locations[static_cast<std::size_t>(i.location)];
        while (l->inlined_at >= 0) l = &from_.locations[static_cast<std::size_t>(l->inlined_at)];
        if (l->line == 0) continue;
        with_lines = true;
        first_line = l->line;
        first_file = l->file;
      }
    DIFile* const home = with_lines ? file(first_file) : main_file_;
    auto* types = debug_.createSubroutineType(debug_.getOrCreateTypeArray({}));
    DISubprogram* program = debug_.createFunction(home, ref(f.name), ref(f.name), home, first_line, types, first_line,
                                                  DINode::FlagZero, DISubprogram::SPFlagDefinition);
    into.setSubprogram(program);
    LLVMContext& c = into_.getContext();
    std::map<std::string_view, Value*> own;  // parameters, results and variables of the body
    LiftNames names;
    names.rolled = is_contained(from_.pragmas, "nounroll");
    names.variable = [&](const ptx::Symbol& s) -> Value* {
      if (const auto at = own.find(s.name); at != own.end()) return at->second;
      const auto at = globals_.find(s.name);
      return at == globals_.end() ? nullptr : at->second;
    };
    names.function = [&](const ptx::Symbol& s) -> Function* {
      const auto at = functions_.find(s.name);
      return at == functions_.end() ? nullptr : at->second;
    };
    std::map<std::uint32_t, DIScope*> scopes;
    names.location = [&](std::int32_t n) -> DebugLoc {
      const ptx::Location* l = &from_.locations[static_cast<std::size_t>(n)];
      // A function that was inlined is shown where it was called, if that is in the kernel's own file.
      while (l->inlined_at >= 0 && l->file != first_file) l = &from_.locations[static_cast<std::size_t>(l->inlined_at)];
      DIScope*& scope = scopes[l->file];
      if (!scope)
        scope = l->file == first_file ? static_cast<DIScope*>(program)
                                      : debug_.createLexicalBlockFile(program, file(l->file));
      return DILocation::get(c, l->line, l->column, scope);
    };
    Lifter lifter(into, f, names, false);
    IRBuilder<>& b = lifter.builder();
    for (unsigned k = 0; k < f.params.size(); ++k) {
      Argument* a = into.getArg(k);
      if (a->hasByValAttr()) {
        own[f.params[k].name] = a;
        continue;
      }
      AllocaInst* held = b.CreateAlloca(a->getType());
      b.CreateStore(a, held);
      own[f.params[k].name] = held;
    }
    AllocaInst* result = nullptr;
    if (!f.returns.empty()) own[f.returns[0].name] = result = b.CreateAlloca(into.getReturnType());
    if (result)
      names.leave = [result](IRBuilder<>& at) { at.CreateRet(at.CreateLoad(result->getAllocatedType(), result)); };
    for (const ptx::Variable& v : f.variables) {
      if (v.space == ptx::Space::local || v.space == ptx::Space::param || v.space == ptx::Space::param_func) {
        AllocaInst* held = b.CreateAlloca(bytes_type(v));
        held->setAlignment(Align(std::max<std::uint64_t>(ptx::alignment_of(v), 1)));
        held->setName(ref(v.name));
        own[v.name] = held;
      } else {
        own[v.name] = variable(v, std::string(v.name));
      }
    }
    if (!with_lines) names.location = {};
    names.line = [&, program](ptx::Place at) -> DebugLoc {
      return with_lines ? DebugLoc() : DebugLoc(DILocation::get(c, at.line, at.column, program));
    };
    lifter.run();
  }

  const ptx::Module& from_;
  Module& into_;
  std::string path_;
  DIBuilder debug_;
  DIFile* main_file_ = nullptr;
  DICompileUnit* unit_ = nullptr;
  std::map<std::string_view, GlobalVariable*> globals_;
  std::map<std::string_view, Function*> functions_;
};

void refuse_other_targets(const ptx::Module& module, const std::string& path, const std::string& target,
                          const std::string& kernel) {
  const int capability = ptx::sm_number(target);
  for (const ptx::Function& f : module.functions) {
    if (!f.has_body) continue;
    if (f.is_entry && !kernel.empty()) {
      KernelEntry entry;
      entry.symbol = std::string(f.name);
      entry.demangled = llvm::demangle(entry.symbol);
      entry.plain = without_parameters(entry.demangled);
      if (!means_kernel(entry, kernel)) continue;
    }
    for (const ptx::Instruction& i : f.body) {
      if (ptx::requirement_of(i).met_by(capability)) continue;
      throw UserError(path + ":" + std::to_string(i.place.line) + ":" + std::to_string(i.place.column) + ": " +
                      ptx::refusal(i, target));
    }
  }
}

}  // namespace

bool is_ptx(const Module& module) { return module.getNamedMetadata(ptx_mark) != nullptr; }

CompiledUnit lift_ptx(const Source& source, const std::string& target, const std::string& capability,
                      const std::string& kernel) {
  if (!target.starts_with("sm_"))
    throw UserError(source.path + ": PTX is code for GPUs of NVIDIA, and " + target + " is none");
  const auto& text = source.text;
  const bool elf = text.starts_with(
                 "\x7f"
                 "ELF"),
             fat = text.starts_with("\x50\xed\x55\xba");
  if (elf || fat)
    throw UserError(source.path + ": this is " + (fat ? "a fat binary" : "machine code (ELF)") +
                    ", not PTX; `cuobjdump -ptx " + source.path + "` writes the PTX that it holds, if it holds any");
  const ptx::Module module = ptx::parse(text, source.path);
  refuse_other_targets(module, source.path, capability, kernel);
  CompiledUnit unit;
  unit.language = Language::ptx;
  unit.context = std::make_unique<LLVMContext>();
  unit.module = std::make_unique<Module>(source.path, *unit.context);
  unit.consulted.emplace();
  ModuleLifter(module, *unit.module, source.path).run(kernel);
  std::string problem;
  raw_string_ostream stream(problem);
  if (verifyModule(*unit.module, &stream)) throw InternalError(source.path + ": lifted PTX is no valid IR: " + problem);
  return unit;
}

}  // namespace kernelcast::frontend
