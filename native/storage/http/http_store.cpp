#include "storage/http/http_store.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <random>
#include <utility>

#include "core/error.h"
#include "storage/http/transfers.h"

namespace avida::storage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRequests = 64;             // under way at a time
constexpr double kLongestDeadline = 1e8;  // seconds, which a clock can count
constexpr double kDeadline = 60;          // seconds for all tries of a request
constexpr double kSilence = 20;           // seconds without a byte
constexpr double kConnecting = 10;        // seconds
constexpr double kShortestSilence = 1;    // seconds, close to the deadline
constexpr double kFirstPause = 0.1;  // seconds before the second try; each pause is twice as long as the one before
constexpr double kLongestPause = 8;  // seconds
constexpr int kHourInSeconds = 3600;
constexpr int64_t kMostOfPage = 64 << 20;  // bytes of a page of a listing; a thousand long names have five million
constexpr int kMostWithoutNames = 1000;    // pages of a listing
constexpr size_t kMostQuoted = 64;         // letters of what a server says of itself

// Between half of it and all of it, so that many clients do not come back together.
double jittered(double pause) {
  thread_local std::minstd_rand random(static_cast<unsigned>(Clock::now().time_since_epoch().count()));
  return pause * std::uniform_real_distribution(0.5, 1.0)(random);
}

// One byte tells size and version.
int64_t bytes_asked(const Request& request) { return request.bytes == 0 ? 1 : request.bytes; }

// The version that the server itself compares: it does so with strong ETags alone.
std::string match_of(const Request& request) { return request.version.starts_with('"') ? request.version : ""; }

// S3 has a status of its own for those that have expired.
bool refuses_credentials(const Transfer& answer) {
  return answer.status == 401 || answer.status == 403 ||
         (answer.status == 400 && answer.text.find("<Code>ExpiredToken</Code>") != std::string::npos);
}

bool is_overload(int status) {
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

// What a server says of itself: it may send anything, and errors are printed.
std::string quoted(std::string_view text) {
  std::string kept;
  for (const char c : text.substr(0, kMostQuoted)) kept += ' ' <= c && c <= '~' ? c : '?';
  return kept;
}

// The names of codes, and what to do about them.
std::string explained(const Transfer& answer) {
  std::string text = str("the server answered ", answer.status);
  switch (answer.status) {
    case 401:
    case 403:
      text += ": access denied; check the credentials, see avida.storage.configure";
      break;
    case 404:
    case 410:
      text += ": there is no such object";
      break;
    default:
      break;
  }
  if (const std::string region = answer.header("x-amz-bucket-region"); !region.empty() && answer.status / 100 != 2)
    text += str("; the bucket is in the region ", quoted(region), ": set AWS_REGION or configure(..., region=)");
  // S3, GCS and Azure give a code, such as SignatureDoesNotMatch.
  const size_t begin = answer.text.find("<Code>"), end = answer.text.find("</Code>");
  if (begin != std::string::npos && end != std::string::npos && begin < end && end - begin < 100)
    text += str(" (", quoted(answer.text.substr(begin + 6, end - begin - 6)), ')');
  return text;
}

}  // namespace

// A request, and the tries that were made.
struct HttpStore::Asked {
  Request* request;
  std::string name;  // whole
  std::function<HttpQuestion(const Settings&)> ask;
  std::function<void(const Transfer&)> answered{};  // sees the answer that is taken
  int64_t most = 0;                                 // bytes of the answer
  HttpQuestion question{};
  int tries = 0;
  bool renewed = false;  // the credentials
  Clock::time_point first{}, deadline{};
  std::string last{};  // what went wrong

  std::unique_ptr<Transfer> transfer() {
    const Settings settings = settings_of(name);
    const double seconds = std::min(settings.deadline.value_or(kDeadline), kLongestDeadline);
    if (tries++ == 0) {
      first = Clock::now();
      deadline = first + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    question = ask(settings);
    auto made = std::make_unique<Transfer>();
    made->url = question.url;
    made->headers = question.headers;
    made->redirects = question.redirects;
    made->offset = request->offset;
    made->bytes = bytes_asked(*request);
    if (const std::string match = match_of(*request); !match.empty()) made->headers.push_back("If-Match: " + match);
    made->silence = std::min(settings.timeout.value_or(kSilence), std::max(left, kShortestSilence));
    made->connecting = std::min(settings.connect_timeout.value_or(kConnecting), std::max(left, kShortestSilence));
    made->certificates = settings.certificates.value_or("");
    made->most = most;
    return made;
  }

  // The seconds to wait before the next try; nothing if the answer is final.
  std::optional<double> judge(Transfer& answer, const HttpStore& store) {
    if (answer.trouble.empty() && (answer.is_data() || answer.status == 416)) return take(answer, store);
    if (answer.status == 412)
      return fails("the object changed after it was opened: the server has another version by now");
    if (refuses_credentials(answer) && question.signed_by && !renewed) {
      renewed = true;
      question.signed_by->refuse(question.credentials);
      return 0;
    }
    const bool again = answer.trouble.empty() ? is_overload(answer.status) : answer.may_pass;
    last = answer.trouble.empty() ? explained(answer) : answer.trouble;
    if (answer.trouble.empty() && (answer.status == 404 || answer.status == 410)) {
      request->error = std::make_exception_ptr(MissingObject(last));
      return {};
    }
    if (!again) return fails(last);
    int wanted = 0;
    const std::string after = answer.header("retry-after");
    std::from_chars(after.data(), after.data() + after.size(), wanted);
    return std::max<double>(pause(), std::clamp(wanted, 0, kHourInSeconds));
  }

  double pause() const {
    return jittered(std::min(kLongestPause, kFirstPause * static_cast<double>(1 << std::min(tries, 20))));
  }

  void give_up() {
    const double seconds = std::chrono::duration<double>(Clock::now() - first).count();
    fails(str(last, "; gave up after ", tries, tries == 1 ? " try" : " tries", " in ", static_cast<int>(seconds + 0.5),
              " s"));
  }

  std::optional<double> fails(const std::string& why) {
    request->error = std::make_exception_ptr(Error(ErrorKind::runtime, why));
    return {};
  }

  std::optional<double> take(Transfer& answer, const HttpStore& store) {
    const int64_t size = answer.object_size();
    if (answer.status == 416 && (size < 0 || size > request->offset)) return fails(explained(answer));
    if (size < 0 && (answer.is_cut || answer.status == 206))
      return fails("the server does not say how many bytes the object has");
    request->identity.size = size >= 0 ? size : request->offset + answer.received;
    request->identity.version = store.version([&](const std::string& name) { return answer.header(name); });
    if (!request->version.empty() && request->identity.version != request->version)
      return fails(str("the object changed after it was opened: expected version ", request->version, ", found ",
                       quoted(request->identity.version)));
    const int64_t there = std::max<int64_t>(0, request->identity.size - request->offset);
    const int64_t wanted = request->bytes == Request::kAll ? there : std::min(there, request->bytes);
    if (request->bytes != 0 && answer.received < wanted) {
      last = str("the server sent ", answer.received, " of ", wanted, " bytes");
      return pause();
    }
    if (request->bytes != 0 && answer.received > wanted)
      return fails(str("the server sent ", answer.received, " bytes, but says that there are ", wanted));
    if (answered) answered(answer);
    request->data = std::move(answer.data);
    request->received = request->bytes == 0 ? 0 : answer.received;
    return {};
  }
};

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

std::string HttpStore::version(const std::function<std::string(const std::string&)>& header) const {
  const std::string tag = header("etag");
  return tag.empty() ? header("last-modified") : tag;
}

void HttpStore::fetch(std::span<Request> requests) const {
  if (requests.empty()) return;
  std::vector<Asked> asked;
  for (Request& request : requests)
    asked.push_back(
        {&request, full(request.name), [this, &request](const Settings& settings) {
           return object({request.name, Transfer::range_text(request.offset, bytes_asked(request)), match_of(request)},
                         settings);
         }});
  for (Asked& each : asked) each.most = most_;
  answer_all(asked);
}

std::string HttpStore::page(const std::string& name, const std::function<HttpQuestion(const Settings&)>& ask,
                            const std::string& header_name, std::string* header) const {
  Request request{.name = name};
  Asked asked{&request, full(name), ask};
  asked.most = kMostOfPage;
  if (header) asked.answered = [&](const Transfer& answer) { *header = answer.header(header_name); };
  answer_all({&asked, 1});
  try {
    if (request.error) std::rethrow_exception(request.error);
  } catch (const Error& error) {
    throw Error(error.kind, str("cannot list ", asked.name, ": ", error.message));
  }
  return {static_cast<const char*>(request.data.get()), static_cast<size_t>(request.received)};
}

void HttpStore::answer_all(std::span<Asked> asked) const {
  const auto most = static_cast<size_t>(std::max(1, settings_of(asked[0].name).requests.value_or(kRequests)));
  std::multimap<Clock::time_point, size_t> due;
  for (size_t i = 0; i < asked.size(); i++) due.emplace(Clock::time_point(), i);
  size_t under_way = 0;
  TransferGroup group;
  while (under_way > 0 || !due.empty()) {
    while (!due.empty() && due.begin()->first <= Clock::now() && under_way < most) {
      const size_t i = due.begin()->second;
      due.erase(due.begin());
      try {
        group.start(asked[i].transfer(), i);
        under_way++;
      } catch (const std::exception&) {
        asked[i].request->error = std::current_exception();
      }
    }
    if (under_way == 0 && due.empty()) break;
    const bool waits = due.empty() || under_way == most;
    for (auto& [answer, i] : group.wait(waits ? Clock::now() + std::chrono::hours(1) : due.begin()->first)) {
      under_way--;
      const auto pause = asked[i].judge(*answer, *this);
      if (!pause) continue;
      const auto next =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*pause));
      if (next > asked[i].deadline)
        asked[i].give_up();
      else
        due.emplace(next, i);
    }
  }
}

// A circle of any length comes back to a page that was remembered, since each is remembered for twice as many pages.
void Onward::check(const std::string& next, int64_t names) {
  if (next.empty()) return;
  if (pages_ > 0 && next == earlier_)
    refuse("the listing of the store goes in a circle: it comes back to ", quoted(next));
  if (++pages_ == compared_) {
    earlier_ = next;
    compared_ *= 2;
  }
  without_names_ = names == names_ ? without_names_ + 1 : 0;
  names_ = names;
  if (without_names_ == kMostWithoutNames)
    refuse("the listing of the store goes on, but its last ", kMostWithoutNames, " pages had no names");
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
