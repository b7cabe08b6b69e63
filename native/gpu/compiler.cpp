#include "gpu/compiler.h"

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/made_once.h"
#include "gpu/driver.h"
#include "gpu/headers.h"
#include "gpu/library.h"

namespace avida {
namespace {

using Program = void*;

struct Nvrtc {
  int (*version)(int* major, int* minor) = nullptr;
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*add_name)(Program, const char* expression) = nullptr;
  int (*compile)(Program, int options, const char* const* option) = nullptr;
  int (*lowered_name)(Program, const char* expression, const char** name) = nullptr;
  int (*code_size)(Program, size_t*) = nullptr;
  int (*code)(Program, char*) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  std::string missing, text;  // why it cannot be used; its version
  bool has_fast_compile = false;
};

std::string& first_library() {
  static constinit MadeOnce<std::string> path;
  return path.get();
}

Nvrtc open_nvrtc() {
  Nvrtc nvrtc;
  Library library({first_library(), "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"});
  if (!library.found()) {
    nvrtc.missing = "kernels cannot be compiled: NVRTC was not found; pip install nvidia-cuda-nvrtc";
    return nvrtc;
  }
  library.find(nvrtc.version, "nvrtcVersion");
  library.find(nvrtc.create, "nvrtcCreateProgram");
  library.find(nvrtc.destroy, "nvrtcDestroyProgram");
  library.find(nvrtc.add_name, "nvrtcAddNameExpression");
  library.find(nvrtc.compile, "nvrtcCompileProgram");
  library.find(nvrtc.lowered_name, "nvrtcGetLoweredName");
  library.find(nvrtc.code_size, "nvrtcGetCUBINSize");
  library.find(nvrtc.code, "nvrtcGetCUBIN");
  library.find(nvrtc.log_size, "nvrtcGetProgramLogSize");
  library.find(nvrtc.log, "nvrtcGetProgramLog");
  if (!library.missing().empty()) nvrtc.missing = "NVRTC is too old: it has no " + library.missing();
  int major = 0, minor = 0;
  if (nvrtc.missing.empty() && nvrtc.version(&major, &minor) == 0) nvrtc.text = str(major, ".", minor);
  nvrtc.has_fast_compile = major >= 13;
  return nvrtc;
}

const Nvrtc& nvrtc() {
  static constinit MadeOnce<const Nvrtc> opened;
  return opened.get([] { return std::make_unique<const Nvrtc>(open_nvrtc()); });
}

// The same options as for the host: C++20 without fused multiply-add.
constexpr const char* kOptions[] = {"--std=c++20", "--fmad=false", "--device-int128",
                                    "--device-as-default-execution-space"};  // lambdas have no annotations

std::string expression_of(const Kernel& kernel) {
  return str("&avida::", kernel.block_threads ? "run_blocks<" : "run_items<", kernel.body, ">");
}

// `quickly`: in about a third of the time, to code that is slower and gives the same results.
CompiledKernel compile(const Kernel& kernel, const std::string& source, const std::string& architecture,
                       bool quickly = false) {
  const Nvrtc& compiler = nvrtc();
  if (!compiler.missing.empty()) refuse(compiler.missing);
  std::vector<const char*> names, texts;
  for (auto& [name, text] : device_headers()) names.push_back(name), texts.push_back(text);
  Program program;
  if (compiler.create(&program, source.c_str(), "kernel.cu", static_cast<int>(names.size()), texts.data(),
                      names.data()))
    refuse("NVRTC cannot create a program");
  std::unique_ptr<Program, void (*)(Program*)> owner(&program, [](Program* p) { nvrtc().destroy(p); });
  const std::string expression = expression_of(kernel), arch = "--gpu-architecture=" + architecture;
  compiler.add_name(program, expression.c_str());
  std::vector<const char*> options(kOptions, kOptions + std::size(kOptions));
  options.push_back(arch.c_str());
  if (quickly) options.push_back("--Ofast-compile=max");
  if (compiler.compile(program, static_cast<int>(options.size()), options.data())) {
    size_t size = 0;
    compiler.log_size(program, &size);
    std::string log(size, '\0');
    compiler.log(program, log.data());
    refuse("the kernel ", kernel.body, " cannot be compiled for ", architecture, ": ", log.c_str());
  }
  CompiledKernel compiled;
  compiled.quickly = quickly;
  const char* name = nullptr;
  size_t size = 0;
  if (compiler.lowered_name(program, expression.c_str(), &name) || !name)
    refuse("NVRTC does not find the kernel ", kernel.body);
  compiled.name = name;
  compiler.code_size(program, &size);
  compiled.code.resize(size);
  compiler.code(program, compiled.code.data());
  return compiled;
}

// A kernel and its key in the cache: of the sources, options and architecture. The version of NVRTC is not part of it,
// so that NVRTC is only loaded where a kernel must be compiled.
class Cached {
 public:
  Cached(const Kernel& kernel, const std::string& architecture)
      : kernel_(kernel), architecture_(architecture), source_(kernel_source(kernel)) {
    static constinit MadeOnce<const std::string> once;
    const std::string& headers = once.get([] {
      std::vector<std::string_view> texts;
      for (auto& [name, text] : device_headers()) texts.insert(texts.end(), {name, text});
      return std::make_unique<const std::string>(hash_of(texts));
    });
    const std::string expression = expression_of(kernel);
    std::vector<std::string_view> parts{source_, expression, architecture_, headers};
    for (auto* option : kOptions) parts.push_back(option);
    key_ = hash_of(parts);
  }

  bool read(CompiledKernel& compiled) const { return read_cached(key_, compiled); }
  CompiledKernel compile_quickly() const { return compile(kernel_, source_, architecture_, true); }
  CompiledKernel compile_and_write() const {
    CompiledKernel compiled = compile(kernel_, source_, architecture_);
    write_cached(key_, compiled);
    return compiled;
  }

 private:
  const Kernel& kernel_;
  const std::string architecture_, source_;
  std::string key_;
};

// The usual kernels for one GPU, read or compiled on background threads: quickly first, then well.
class UsualKernels {
 public:
  void start(const std::string& architecture) {
    std::lock_guard lock(mutex_);
    if (!architecture_.empty()) return;
    architecture_ = architecture;
    try {
      for (const Kernel* kernel : kernels())
        if (kernel->usual) start(*kernel);
    } catch (const std::system_error&) {  // no more threads: the others are compiled when they are needed
    }
  }

  // The kernel, as soon as there is one; nothing if no thread makes it.
  std::optional<CompiledKernel> first(const Kernel& kernel, const std::string& architecture) {
    if (auto made = find(kernel, architecture)) return made->first.get();
    return std::nullopt;
  }
  // The kernel that is to take the place of a quickly compiled one, if it is ready.
  std::optional<CompiledKernel> better(const Kernel& kernel, const std::string& architecture) {
    auto made = find(kernel, architecture);
    if (!made || made->better.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
    return made->better.get();
  }

  void finish() {
    if (cuda::forked()) return;  // the threads belong to the parent process
    ending_ = true;
    std::lock_guard lock(mutex_);
    made_.clear();  // destroying the last future of a thread waits for it
  }

 private:
  struct Made {
    std::shared_future<CompiledKernel> first, better;
  };

  std::optional<Made> find(const Kernel& kernel, const std::string& architecture) {
    std::lock_guard lock(mutex_);
    auto found = made_.find(&kernel);
    if (architecture != architecture_ || found == made_.end()) return std::nullopt;
    return found->second;
  }

  void start(const Kernel& kernel) {
    auto first = std::make_shared<std::promise<CompiledKernel>>();
    auto make = [this, &kernel, first, architecture = architecture_]() -> CompiledKernel {
      bool promised = false;
      try {
        CompiledKernel compiled;
        const Cached cached(kernel, architecture);
        if (!cached.read(compiled)) {
          check_not_ending();
          if (nvrtc().has_fast_compile) {
            first->set_value(cached.compile_quickly());
            promised = true;
          }
          check_not_ending();
          compiled = cached.compile_and_write();
        }
        if (!promised) first->set_value(compiled);
        return compiled;
      } catch (...) {
        if (!promised) first->set_exception(std::current_exception());
        throw;
      }
    };
    made_.emplace(&kernel, Made{first->get_future().share(), std::async(std::launch::async, make).share()});
  }

  void check_not_ending() const {
    if (ending_) refuse("the process is ending");
  }

  std::mutex mutex_;
  std::atomic<bool> ending_{false};
  std::string architecture_;
  std::map<const Kernel*, Made> made_;
};

UsualKernels& usual_kernels() {
  static constinit MadeOnce<UsualKernels> all;
  return all.get();
}

}  // namespace

void finish_compiling() { usual_kernels().finish(); }

std::string kernel_source(const Kernel& kernel) {
  std::string source;
  for (auto header : kernel.headers) source += str("#include \"", header, "\"\n");
  // Type names are those of the host compiler inside the namespace.
  return source + "#include \"device/launch.h\"\nusing namespace avida;\n";
}

void set_compiler_library(std::string path) { first_library() = std::move(path); }

std::string compiler_version() { return nvrtc().missing.empty() ? nvrtc().text : nvrtc().missing; }

void start_compiling(const std::string& architecture) { usual_kernels().start(architecture); }

CompiledKernel compile_kernel(const Kernel& kernel, const std::string& architecture, bool cached) {
  if (cached && kernel.usual)
    if (auto made = usual_kernels().first(kernel, architecture)) return *made;
  CompiledKernel compiled;
  const Cached file(kernel, architecture);
  if (cached && file.read(compiled)) return compiled;
  return file.compile_and_write();
}

std::optional<CompiledKernel> better_kernel(const Kernel& kernel, const std::string& architecture) {
  return usual_kernels().better(kernel, architecture);
}

}  // namespace avida
