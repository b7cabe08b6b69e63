#include "gpu/kernel_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "core/error.h"

namespace avida {
namespace {

namespace fs = std::filesystem;

constexpr time_t kAbandoned = 3600;  // seconds after which a temporary file counts as abandoned

// Why another user may have written the file or folder; empty if not.
std::string problem_of(const struct stat& found) {
  if (found.st_uid != geteuid() && found.st_uid != 0) return str("it belongs to the user ", found.st_uid);
  if (found.st_mode & 022) return "others may write to it; run chmod go-w on it";
  return "";
}

std::string problem_of_folder(const std::string& folder) {
  struct stat found;
  if (stat(folder.c_str(), &found) != 0) return "";  // it will be created
  return S_ISDIR(found.st_mode) ? problem_of(found) : "it is not a folder";
}

// A file descriptor that is closed by the destructor.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

bool read_all(int file, std::string& to) {
  for (char buffer[1 << 16];;) {
    const ssize_t n = read(file, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    to.append(buffer, static_cast<size_t>(n));
  }
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(file, text.data(), text.size());
    if (n < 0 && errno != EINTR) return false;
    text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }
  return true;
}

std::string path_of(const KernelCache& cache, const std::string& key) { return cache.folder + "/" + key + ".cubin"; }

}  // namespace

KernelCache kernel_cache() {
  for (auto [variable, below] :
       {std::pair{"AVIDA_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "/avida"}, {"HOME", "/.cache/avida"}})
    if (const char* parent = std::getenv(variable); parent && *parent) {
      const std::string folder = std::string(parent) + below + "/kernels";
      return {folder, problem_of_folder(folder)};
    }
  // Others can write to the parent folder: check that the folder belongs to this user before using it.
  std::error_code error;
  const std::string parent = str(fs::temp_directory_path(error).string(), "/avida-", geteuid());
  mkdir(parent.c_str(), 0700);
  const std::string problem = problem_of_folder(parent), folder = parent + "/kernels";
  return {folder, problem.empty() ? problem_of_folder(folder) : problem};
}

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

// A file has a hash of its key and content on the first line, the function's name on the second, then the code.
bool read_cached(const std::string& key, CompiledKernel& kernel) {
  const KernelCache cache = kernel_cache();
  if (!cache.problem.empty()) return false;
  const Descriptor file{open(path_of(cache, key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  struct stat found;
  std::string text;
  if (file.number < 0 || fstat(file.number, &found) != 0 || !S_ISREG(found.st_mode) || !problem_of(found).empty() ||
      !read_all(file.number, text))
    return false;
  const size_t hash_end = text.find('\n'), name_end = text.find('\n', hash_end + 1);
  if (hash_end == text.npos || name_end == text.npos) return false;
  kernel.name = text.substr(hash_end + 1, name_end - hash_end - 1);
  kernel.code = text.substr(name_end + 1);
  return text.compare(0, hash_end, hash_of({key, kernel.name, kernel.code})) == 0;
}

// Writes a temporary file and renames it, so that other processes see the whole file or none.
void write_cached(const std::string& key, const CompiledKernel& kernel) {
  const KernelCache cache = kernel_cache();
  if (!cache.problem.empty()) return;
  const std::string path = path_of(cache, key), temporary = path + ".tmp";
  std::error_code error;
  fs::create_directories(fs::path(cache.folder).parent_path(), error);
  mkdir(cache.folder.c_str(), 0700);
  struct stat old;
  if (lstat(temporary.c_str(), &old) == 0 && time(nullptr) - old.st_mtime > kAbandoned) unlink(temporary.c_str());
  const Descriptor file{open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (file.number < 0) return;  // also if another process is writing the same file
  const std::string hash = hash_of({key, kernel.name, kernel.code});
  if (write_all(file.number, hash + "\n" + kernel.name + "\n") && write_all(file.number, kernel.code))
    fs::rename(temporary, path, error);
  else
    unlink(temporary.c_str());
}

}  // namespace avida
