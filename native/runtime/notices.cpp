#include "runtime/notices.h"

#include <algorithm>
#include <atomic>
#include <memory>

namespace avida {
namespace {

struct Notice {
  std::string text;
  Notice* before;
};
std::atomic<Notice*> newest{nullptr};  // a list without a lock, which a fork could catch while it is held

}  // namespace

void post_notice(std::string text) {
  auto* notice = new Notice{std::move(text), newest.load()};
  while (!newest.compare_exchange_weak(notice->before, notice)) {
  }
}

std::vector<std::string> take_notices() {
  std::vector<std::string> texts;
  if (!newest.load(std::memory_order_relaxed)) return texts;
  for (std::unique_ptr<Notice> notice(newest.exchange(nullptr)); notice; notice.reset(notice->before))
    texts.push_back(std::move(notice->text));
  std::ranges::reverse(texts);
  return texts;
}

}  // namespace avida
