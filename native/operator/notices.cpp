#include "operator/notices.h"

#include <atomic>
#include <cstring>
#include <utility>

namespace avida {
namespace {

struct Notice {
  const char* const kind;
  const std::string text;
  Notice* before;
  std::atomic<bool> is_told{false};
};

// A list without a lock, which a fork could catch while it is held. Notices stay, as few as there are kinds.
std::atomic<Notice*> newest{nullptr};
std::atomic<int> untold{0};

bool is_known(const char* kind) {
  for (const Notice* notice = newest; notice; notice = notice->before)
    if (!std::strcmp(notice->kind, kind)) return true;
  return false;
}

}  // namespace

void post_notice(const char* kind, std::string text) {
  if (is_known(kind)) return;
  auto* notice = new Notice{kind, std::move(text), newest};
  while (!newest.compare_exchange_weak(notice->before, notice))
    if (is_known(kind)) return delete notice;
  untold++;
}

std::vector<std::string> take_notices() {
  std::vector<std::string> texts;
  if (!untold.load(std::memory_order_relaxed)) return texts;
  for (Notice* notice = newest; notice; notice = notice->before)
    if (!notice->is_told.exchange(true)) texts.push_back(notice->text), untold--;
  return texts;
}

}  // namespace avida
