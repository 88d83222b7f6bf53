// How an instance of a kernel template is named where source code is at hand.
#pragma once

#include <string>

namespace clang {
class FunctionDecl;
}

namespace kernelcast::frontend {

/// Qualified, with all template arguments as symbols have them, but constants and types as the source names them:
/// "n::f<Mode::fast, float>".
std::string instance_name(const clang::FunctionDecl& kernel);

}  // namespace kernelcast::frontend
