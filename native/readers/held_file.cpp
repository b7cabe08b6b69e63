#include "readers/held_file.h"

#include <atomic>

namespace avida {
namespace {

constexpr int kMostOpen = 256;
std::atomic<int> open_files{0};

}  // namespace

HeldFile::HeldFile(std::string path) : path_(std::move(path)) { open(); }

void HeldFile::open() {
  file_.emplace(path_);
  open_files++;
}

void HeldFile::close() {
  if (!file_) return;
  file_.reset();
  open_files--;
}

void HeldFile::close_if_many_are_open() {
  if (open_files >= kMostOpen) close();
}

}  // namespace avida
