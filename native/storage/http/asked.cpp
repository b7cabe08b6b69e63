#include "storage/http/asked.h"

#include <algorithm>
#include <charconv>
#include <random>

#include "core/error.h"

namespace avida::storage {
namespace {

constexpr double kLongestDeadline = 1e8;  // seconds, which a clock can count
constexpr double kDeadline = 60;          // seconds for all tries of a request
constexpr double kSilence = 20;           // seconds without a byte
constexpr double kConnecting = 10;        // seconds
constexpr double kShortestSilence = 1;    // seconds, close to the deadline
constexpr double kFirstPause = 0.1;  // seconds before the second try; each pause is twice as long as the one before
constexpr double kLongestPause = 8;  // seconds
constexpr int kHourInSeconds = 3600;
constexpr size_t kMostQuoted = 64;  // letters of what a server says of itself

// Between half of it and all of it, so that many clients do not come back together.
double jittered(double pause) {
  thread_local std::minstd_rand random(static_cast<unsigned>(Asked::Clock::now().time_since_epoch().count()));
  return pause * std::uniform_real_distribution(0.5, 1.0)(random);
}

// S3 has a status of its own for those that have expired.
bool refuses_credentials(const Transfer& answer) {
  return answer.status == 401 || answer.status == 403 ||
         (answer.status == 400 && answer.text.find("<Code>ExpiredToken</Code>") != std::string::npos);
}

bool is_overload(int status) {
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status != 501 && status != 505);
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

// What a server says of itself: it may send anything, and errors are printed.
std::string quoted(std::string_view text) {
  std::string kept;
  for (const char c : text.substr(0, kMostQuoted)) kept += ' ' <= c && c <= '~' ? c : '?';
  return kept;
}

std::unique_ptr<Transfer> Asked::transfer() {
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

std::optional<double> Asked::judge(Transfer& answer, const HttpStore& store) {
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

double Asked::pause() const {
  return jittered(std::min(kLongestPause, kFirstPause * static_cast<double>(1 << std::min(tries, 20))));
}

void Asked::give_up() {
  const double seconds = std::chrono::duration<double>(Clock::now() - first).count();
  fails(str(last, "; gave up after ", tries, tries == 1 ? " try" : " tries", " in ", static_cast<int>(seconds + 0.5),
            " s"));
}

std::optional<double> Asked::fails(const std::string& why) {
  request->error = std::make_exception_ptr(Error(ErrorKind::runtime, why));
  return {};
}

std::optional<double> Asked::take(Transfer& answer, const HttpStore& store) {
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
  request->data = std::move(answer.data);
  request->received = request->bytes == 0 ? 0 : answer.received;
  return {};
}

}  // namespace avida::storage
