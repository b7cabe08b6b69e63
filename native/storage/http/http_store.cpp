#include "storage/http/http_store.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "core/error.h"
#include "storage/http/asked.h"

namespace avida::storage {
namespace {

using Clock = Asked::Clock;

constexpr int kRequests = 64;  // under way at a time

}  // namespace

void HttpQuestion::take_credentials(const Settings& settings) {
  if (settings.anonymous.value_or(false) || !settings.credentials) return;
  signed_by = settings.credentials;
  credentials = settings.credentials->get();
}

void HttpQuestion::send_token(const Settings& settings) {
  take_credentials(settings);
  if (!credentials.token.empty()) headers.push_back("Authorization: Bearer " + credentials.token);
}

int HttpStore::most_requests() const { return settings_of(scheme_ + "://").requests.value_or(kRequests); }

std::string HttpStore::version(const GetHeader& header) const {
  const std::string tag = header("etag");
  return tag.empty() ? header("last-modified") : tag;
}

HttpQuestion HttpStore::page(const HttpPage&, const Settings&) const {
  refuse("HTTP has no listings. Name the files, such as by files= or file_list=");
}

void HttpStore::fetch(std::span<Request> requests) const {
  std::deque<Asked> asked;
  for (Request& request : requests) {
    auto ask = [this, &request](const Settings& settings) {
      return object({request.name, Transfer::range_text(request.offset, bytes_asked(request)), match_of(request)},
                    settings);
    };
    asked.push_back({&request, full(request.name), std::move(ask), most_});
  }
  if (!asked.empty()) answer_all(asked);
}

void HttpStore::answer_all(std::deque<Asked>& asked) const {
  const auto most = static_cast<size_t>(std::max(1, settings_of(asked[0].name).requests.value_or(kRequests)));
  std::multimap<Clock::time_point, size_t> due;
  size_t under_way = 0, known = 0;
  TransferGroup group;
  const auto done = [&](size_t i, const Transfer& answer) {
    if (asked[i].done) asked[i].done(answer);
  };
  while (true) {
    for (; known < asked.size(); known++) due.emplace(Clock::time_point(), known);
    if (under_way == 0 && due.empty()) break;
    while (!due.empty() && due.begin()->first <= Clock::now() && under_way < most) {
      const size_t i = due.begin()->second;
      due.erase(due.begin());
      try {
        group.start(asked[i].transfer(), i);
        under_way++;
      } catch (const std::exception&) {
        asked[i].request->error = std::current_exception();
        done(i, {});
      }
    }
    if (under_way == 0 && due.empty()) continue;
    const bool waits = due.empty() || under_way == most;
    for (auto& [answer, i] : group.wait(waits ? Clock::now() + std::chrono::hours(1) : due.begin()->first)) {
      under_way--;
      if (const auto pause = asked[i].judge(*answer, *this)) {
        const auto next =
            Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*pause));
        if (next <= asked[i].deadline) {
          due.emplace(next, i);
          continue;
        }
        asked[i].give_up();
      }
      done(i, *answer);
    }
  }
}

std::string percent_encoded(std::string_view text, bool keep_slashes) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool plain = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || (c == '/' && keep_slashes);
    if (plain)
      encoded += c;
    else
      (encoded += '%') += {kDigits[static_cast<uint8_t>(c) >> 4], kDigits[static_cast<uint8_t>(c) & 15]};
  }
  return encoded;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); i++) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3) {
      decoded += static_cast<char>(value);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

}  // namespace avida::storage
