#include "cuda/compiler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "cuda/driver.h"
#include "cuda/headers.h"
#include "cuda/library.h"

namespace avida {
namespace {

namespace fs = std::filesystem;

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
  std::string missing, text;  // of the version
};

std::string& first_library() {
  static auto* path = new std::string;
  return *path;
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
  return nvrtc;
}

const Nvrtc& nvrtc() {
  static const auto* opened = new Nvrtc(open_nvrtc());
  return *opened;
}

// As the core is compiled for the host: C++20, and no multiplication and addition fused into one.
constexpr const char* kOptions[] = {"--std=c++20", "--fmad=false", "--device-int128",
                                    "--device-as-default-execution-space"};  // lambdas have no annotations

std::string expression_of(const Kernel& kernel) {
  return str("&avida::", kernel.block_threads ? "run_blocks<" : "run_items<", kernel.body, ">");
}

// FNV-1a, in 128 bits: names of files, not secrets.
std::string hash_of(const std::vector<std::string_view>& texts) {
  unsigned __int128 hash = (static_cast<unsigned __int128>(0x6c62272e07bb0142ull) << 64) | 0x62b821756295c58dull;
  const unsigned __int128 prime = (static_cast<unsigned __int128>(1) << 88) | 0x13b;
  for (auto text : texts) {
    for (unsigned char c : text) hash = (hash ^ c) * prime;
    hash = (hash ^ 0xff) * prime;
  }
  char out[33];
  std::snprintf(out, sizeof(out), "%016llx%016llx", static_cast<unsigned long long>(hash >> 64),
                static_cast<unsigned long long>(hash));
  return out;
}

// A file of the cache: the function's name on the first line, then the code.
bool read_cached(const fs::path& path, CompiledKernel& kernel) {
  std::ifstream file(path, std::ios::binary);
  if (!std::getline(file, kernel.name)) return false;
  std::ostringstream rest;
  rest << file.rdbuf();
  kernel.code = rest.str();
  return !kernel.code.empty();
}

// Written beside its place and renamed, so that other processes see all of it or nothing. A cache that cannot be
// written costs time only.
void write_cached(const fs::path& path, const CompiledKernel& kernel) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  fs::path beside = path.string() + str(".", getpid(), ".", static_cast<const void*>(&kernel));
  std::ofstream file(beside, std::ios::binary);
  file << kernel.name << '\n' << kernel.code;
  file.close();
  if (file)
    fs::rename(beside, path, error);
  else
    fs::remove(beside, error);
}

CompiledKernel compile(const Kernel& kernel, const std::string& source, const std::string& architecture) {
  const Nvrtc& compiler = nvrtc();
  std::vector<const char*> names, texts;
  for (auto& [name, text] : device_headers()) names.push_back(name), texts.push_back(text);
  Program program;
  if (compiler.create(&program, source.c_str(), "kernel.cu", static_cast<int>(names.size()), texts.data(),
                      names.data()))
    fail(ErrorKind::runtime, "NVRTC cannot make a program");
  std::unique_ptr<Program, void (*)(Program*)> owner(&program, [](Program* p) { nvrtc().destroy(p); });
  const std::string expression = expression_of(kernel), arch = "--gpu-architecture=" + architecture;
  compiler.add_name(program, expression.c_str());
  std::vector<const char*> options(kOptions, kOptions + std::size(kOptions));
  options.push_back(arch.c_str());
  if (compiler.compile(program, static_cast<int>(options.size()), options.data())) {
    size_t size = 0;
    compiler.log_size(program, &size);
    std::string log(size, '\0');
    compiler.log(program, log.data());
    fail(ErrorKind::runtime, "the kernel ", kernel.body, " cannot be compiled for ", architecture, ": ", log.c_str());
  }
  CompiledKernel compiled;
  const char* name = nullptr;
  size_t size = 0;
  if (compiler.lowered_name(program, expression.c_str(), &name) || !name)
    fail(ErrorKind::runtime, "NVRTC does not find the kernel ", kernel.body);
  compiled.name = name;
  compiler.code_size(program, &size);
  compiled.code.resize(size);
  compiler.code(program, compiled.code.data());
  return compiled;
}

// A kernel, and where it is or will be in the cache.
class Cached {
 public:
  Cached(const Kernel& kernel, const std::string& architecture)
      : kernel_(kernel), architecture_(architecture), source_(kernel_source(kernel)) {
    static const std::string headers = [] {
      std::vector<std::string_view> texts;
      for (auto& [name, text] : device_headers()) texts.insert(texts.end(), {name, text});
      return hash_of(texts);
    }();
    const std::string expression = expression_of(kernel), folder = kernel_cache_folder();
    std::vector<std::string_view> parts{source_, expression, architecture_, nvrtc().text, headers};
    for (auto* option : kOptions) parts.push_back(option);
    if (!folder.empty()) path_ = fs::path(folder) / (hash_of(parts) + ".cubin");
  }

  bool read(CompiledKernel& compiled) const { return !path_.empty() && read_cached(path_, compiled); }
  CompiledKernel compile_and_write() const {
    CompiledKernel compiled = compile(kernel_, source_, architecture_);
    if (!path_.empty()) write_cached(path_, compiled);
    return compiled;
  }

 private:
  const Kernel& kernel_;
  const std::string architecture_, source_;
  fs::path path_;  // empty: there is no cache
};

// Threads that compile usual kernels into the cache.
class UsualKernels {
 public:
  // The first call starts all but the kernel that it is for. Returns when the thread of this one is done, if it has
  // one.
  void wait_for(const Kernel& kernel, const std::string& architecture) {
    std::shared_future<void> compiled;
    {
      std::lock_guard lock(mutex_);
      if (!started_) start(kernel, architecture);
      auto found = running_.find(&kernel);
      if (found == running_.end()) return;
      compiled = found->second;
    }
    compiled.wait();
  }

  void finish() {
    if (cuda::forked()) return;  // the threads are another process's
    std::lock_guard lock(mutex_);
    started_ = true;
    running_.clear();  // a future waits for its thread
  }

 private:
  void start(const Kernel& needed, const std::string& architecture) {
    started_ = true;
    for (const Kernel* kernel : kernels()) {
      if (!kernel->usual || kernel == &needed) continue;
      auto compile = [kernel, architecture] {
        CompiledKernel compiled;
        const Cached cached(*kernel, architecture);
        try {
          if (!cached.read(compiled)) cached.compile_and_write();
        } catch (const Error&) {  // whoever needs the kernel will see it
        }
      };
      running_.emplace(kernel, std::async(std::launch::async, compile).share());
    }
  }

  std::mutex mutex_;
  bool started_ = false;
  std::map<const Kernel*, std::shared_future<void>> running_;
};

UsualKernels& usual_kernels() {
  static auto* all = new UsualKernels;
  return *all;
}

}  // namespace

void finish_compiling() { usual_kernels().finish(); }

std::string kernel_source(const Kernel& kernel) {
  std::string source;
  for (auto header : kernel.headers) source += str("#include \"", header, "\"\n");
  // Names are as the host's compiler gives them inside the namespace.
  return source + "#include \"kernel/launch.h\"\nusing namespace avida;\n";
}

std::string kernel_cache_folder() {
  for (auto [variable, below] :
       {std::pair{"AVIDA_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "/avida"}, {"HOME", "/.cache/avida"}})
    if (const char* folder = std::getenv(variable); folder && *folder) return std::string(folder) + below + "/kernels";
  // Others can write beside it: it has to be this user's own.
  std::error_code error;
  const std::string folder = str(fs::temp_directory_path(error).string(), "/avida-", getuid());
  mkdir(folder.c_str(), 0700);
  struct stat found;
  const bool own = lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == getuid() &&
                   (found.st_mode & 022) == 0;
  return own ? folder + "/kernels" : "";
}

void set_compiler_library(std::string path) { first_library() = std::move(path); }

std::string compiler_version() { return nvrtc().missing.empty() ? nvrtc().text : nvrtc().missing; }

CompiledKernel compile_kernel(const Kernel& kernel, const std::string& architecture, bool cached) {
  CompiledKernel compiled;
  const Cached file(kernel, architecture);
  if (cached && file.read(compiled)) return compiled;
  if (!nvrtc().missing.empty()) fail(ErrorKind::runtime, nvrtc().missing);
  if (cached && kernel.usual) {
    usual_kernels().wait_for(kernel, architecture);
    if (file.read(compiled)) return compiled;
  }
  return file.compile_and_write();
}

}  // namespace avida
