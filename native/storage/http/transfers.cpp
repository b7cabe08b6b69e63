#include "storage/http/transfers.h"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.h"
#include "runtime/fork.h"
#include "runtime/memory.h"
#include "storage/http/settings.h"
#include "storage/waiting.h"

namespace avida::storage {
namespace {

constexpr auto kWake = std::chrono::milliseconds(20);  // to look for interrupts
constexpr int kSleep = 1000;                           // ms, of the thread while nothing arrives
constexpr size_t kMostText = 4 << 10;                  // of an answer that is not data
constexpr size_t kMostHeaders = 64 << 10;              // bytes
constexpr int64_t kMostAtFirst = 64 << 20;             // bytes, before they have arrived: the server may lie
constexpr int64_t kMostUnannounced = 128 << 20;        // bytes of an answer whose length the server does not say
constexpr long kSlowest = 1 << 10;                     // bytes per second: who sends less for long is as good as silent
constexpr long kMostRedirects = 5;
constexpr long kKeptConnections = 512;

}  // namespace

struct TransferResults {
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<TransferGroup::Done> done;
  std::atomic<bool> cancelled{false};
};

namespace {

constexpr int64_t kAll = Transfer::kAll;

// What a transfer has beside question and answer while it is under way.
class Receiving {
 public:
  Receiving(std::unique_ptr<Transfer> transfer, size_t tag, std::shared_ptr<TransferResults> results)
      : transfer_(std::move(transfer)), tag_(tag), results_(std::move(results)) {}

  void prepare(CURL* handle, const std::string& usual_certificates);
  void finish(CURLcode result);
  bool is_cancelled() const { return results_->cancelled; }

  curl_slist* headers = nullptr;
  CURL* handle = nullptr;

 private:
  static size_t on_header(char* text, size_t, size_t size, void* self) {
    return static_cast<Receiving*>(self)->take_header({text, size}) ? size : 0;
  }
  static size_t on_data(char* data, size_t, size_t size, void* self) {
    return static_cast<Receiving*>(self)->take(data, static_cast<int64_t>(size)) ? size : 0;
  }
  bool take_header(std::string_view line);
  bool take(const char* data, int64_t size);
  bool begin_data();
  bool make_room(int64_t bytes);
  bool fails(std::string why) {
    transfer_->trouble = std::move(why);
    return false;
  }

  std::unique_ptr<Transfer> transfer_;
  const size_t tag_;
  const std::shared_ptr<TransferResults> results_;
  char message_[CURL_ERROR_SIZE] = "";
  size_t header_bytes_ = 0;
  int64_t skip_ = 0, wanted_ = kAll, room_ = 0, most_ = kMostUnannounced;
  bool has_headers_ = false, has_begun_ = false, has_enough_ = false;  // has_headers_: to the empty line at their end
};

int64_t number_in(std::string_view text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? number : -1;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::strchr(" \t\r\n", text.front())) text.remove_prefix(1);
  while (!text.empty() && std::strchr(" \t\r\n", text.back())) text.remove_suffix(1);
  return text;
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return 'A' <= c && c <= 'Z' ? char(c + 32) : c; });
  return lower;
}

// "bytes 0-99/1234" has the start 0 and the size 1234; -1 for what it does not have.
struct ContentRange {
  int64_t start = -1, size = -1;
};
ContentRange content_range(std::string_view text) {
  if (!text.starts_with("bytes ")) return {};
  text.remove_prefix(6);
  const size_t slash = text.find('/');
  if (slash == text.npos) return {};
  return {number_in(text.substr(0, text.find('-'))), number_in(text.substr(slash + 1))};
}

bool may_pass(CURLcode result) {
  switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

void Receiving::prepare(CURL* easy, const std::string& usual_certificates) {
  handle = easy;
  const Transfer& asked = *transfer_;
  auto set = [&](auto option, auto value) { curl_easy_setopt(handle, option, value); };
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_URL, asked.url.c_str());
  set(CURLOPT_ERRORBUFFER, message_);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));  // its speed is that of many connections
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_BUFFERSIZE, 512L << 10);
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // who cancels does not wait for the names of hosts
  set(CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(asked.connecting * 1000)));
  set(CURLOPT_LOW_SPEED_LIMIT, kSlowest);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(std::ceil(asked.silence)));
  if (asked.redirects) {
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, kMostRedirects);
    set(CURLOPT_REDIR_PROTOCOLS_STR, asked.url.starts_with("https:") ? "https" : "http,https");
  }
  if (const std::string range = Transfer::range_text(asked.offset, asked.bytes); !range.empty())
    headers = curl_slist_append(headers, ("Range: " + range).c_str());
  const std::string& trusted = asked.certificates.empty() ? usual_certificates : asked.certificates;
  if (!trusted.empty()) set(CURLOPT_CAINFO, trusted.c_str());
  for (const std::string& line : asked.headers) headers = curl_slist_append(headers, line.c_str());
  set(CURLOPT_HTTPHEADER, headers);
  set(CURLOPT_HEADERFUNCTION, on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, on_data);
  set(CURLOPT_WRITEDATA, this);
  wanted_ = asked.bytes;
}

bool Receiving::take_header(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMostHeaders) return fails("the answer has more than 64 KiB of headers");
  if (has_begun_) return true;                                         // behind the data: a trailer
  if (line.starts_with("HTTP/")) transfer_->answered_headers.clear();  // of a redirection
  has_headers_ = trimmed(line).empty();
  const size_t colon = line.find(':');
  if (colon != line.npos)
    transfer_->answered_headers[in_lower_case(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
  return true;
}

// Looks at status and headers before the first byte of data is kept.
bool Receiving::begin_data() {
  Transfer& answer = *transfer_;
  has_begun_ = true;
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  if (status == 200) skip_ = answer.offset;  // the server sends everything, whatever was asked for
  if (status == 206) {
    const ContentRange range = content_range(answer.header("content-range"));
    if (range.start != answer.offset)
      return fails(str("asked for bytes from ", answer.offset, " on, got \"", answer.header("content-range"), '"'));
  }
  if (!answer.is_data()) return true;
  const int64_t size = number_in(answer.header("content-length"));
  const int64_t coming = size < 0 ? 0 : std::max<int64_t>(0, size - skip_);
  if (wanted_ == kAll && coming > answer.most)
    return fails(str("the answer is said to have ", size, " bytes, expected at most ", answer.most));
  most_ = size >= 0 ? coming : std::min(kMostUnannounced, answer.most);
  return make_room(std::min({coming, wanted_ == kAll ? coming : wanted_, kMostAtFirst}));
}

bool Receiving::make_room(int64_t bytes) {
  if (bytes <= room_ && transfer_->data) return true;
  const int64_t most = wanted_ == kAll ? most_ : wanted_;
  const int64_t room = std::min(std::max(bytes, 2 * room_), most);
  if (room < bytes && wanted_ != kAll) return fails("the answer is longer than what was asked for");
  if (room < bytes)
    return fails(str("the server has sent more than ", most, " bytes, ",
                     transfer_->answered_headers.contains("content-length")
                         ? "which is its own Content-Length"
                         : "and does not say how many it will be (no Content-Length)"));
  try {
    Block larger = allocate(room);
    if (transfer_->received > 0)
      std::memcpy(larger.get(), transfer_->data.get(), static_cast<size_t>(transfer_->received));
    transfer_->data = std::move(larger);
  } catch (const std::exception& error) {
    return fails(error.what());
  }
  room_ = room;
  return true;
}

bool Receiving::take(const char* data, int64_t size) {
  if (is_cancelled()) return false;
  if (!has_begun_ && !begin_data()) return false;
  Transfer& answer = *transfer_;
  if (!answer.is_data()) {
    answer.text.append(data, std::min(static_cast<size_t>(size), kMostText - answer.text.size()));
    return answer.text.size() < kMostText;
  }
  const int64_t skipped = std::min(skip_, size);
  skip_ -= skipped;
  data += skipped;
  size -= skipped;
  if (wanted_ != kAll && answer.status == 200) {
    size = std::min(size, wanted_ - answer.received);
    has_enough_ = answer.received + size == wanted_;
  }
  if (!make_room(answer.received + size)) return false;
  if (size > 0) std::memcpy(static_cast<char*>(answer.data.get()) + answer.received, data, static_cast<size_t>(size));
  answer.received += size;
  return !has_enough_;
}

void Receiving::finish(CURLcode result) {
  curl_slist_free_all(headers);
  if (!has_begun_ && result == CURLE_OK) begin_data();
  Transfer& answer = *transfer_;
  answer.is_cut = has_enough_;
  if (result == CURLE_OK && !has_headers_ && answer.trouble.empty()) {
    answer.trouble = "the answer ended in the middle of its headers";
    answer.may_pass = true;
  }
  const bool cut_text = !answer.is_data() && answer.status > 0 && result == CURLE_WRITE_ERROR;
  if (result != CURLE_OK && answer.trouble.empty() && !has_enough_ && !cut_text) {
    answer.trouble = *message_ ? message_ : curl_easy_strerror(result);
    answer.may_pass = storage::may_pass(result);
  }
  std::lock_guard lock(results_->mutex);
  results_->done.push_back({std::move(transfer_), tag_});
  results_->arrived.notify_all();
}

// The thread, and what it is given. Only the thread uses libcurl's multi handle, and holds `performing_` while it does,
// except while it waits: so no fork finds TLS or the memory of libcurl in the middle of something.
class Transfers : ForkAware {
 public:
  static Transfers& instance() { return *instance_; }

  void start(std::unique_ptr<Receiving> receiving) {
    std::lock_guard lock(mutex_);
    if (!is_running_) {
      try {
        std::thread([this] { run(); }).detach();
      } catch (const std::system_error& error) {
        refuse("cannot start the thread for requests: ", error.what());
      }
      is_running_ = true;
    }
    queue_.push_back(std::move(receiving));
    wake();
  }
  int forks() const { return forks_; }  // from which this process comes: what was under way before is lost
  void look() {
    std::lock_guard lock(mutex_);
    wake();
  }

 private:
  static Transfers* const instance_;

  // With mutex_.
  void wake() {
    if (multi_) curl_multi_wakeup(multi_);
    more_.notify_all();
  }

  void run() {
    sigset_t broken_pipes;  // TLS writes to connections that are gone
    sigemptyset(&broken_pipes);
    sigaddset(&broken_pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipes, nullptr);
    while (true) {
      {
        std::unique_lock lock(mutex_);
        if (!multi_) open();
        while (queue_.empty() && under_way_.empty()) more_.wait(lock);
      }
      {
        std::lock_guard performing(performing_);
        begin();
        int running = 0;
        curl_multi_perform(multi_, &running);
        end();
      }
      bool is_idle;
      {
        std::lock_guard lock(mutex_);
        is_idle = under_way_.empty();
      }
      if (!is_idle) curl_multi_poll(multi_, nullptr, 0, kSleep, nullptr);
    }
  }

  void open() {
    // The handlers that OpenSSL has for the end of the process must not run beside this thread.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
    std::atexit([] { instance_->performing_.lock(); });  // if OpenSSL was used before: they run after this one
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_ = curl_multi_init();
    if (certificates_.empty()) certificates_ = system_certificates();
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kKeptConnections);
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  }

  void begin() {
    std::lock_guard lock(mutex_);
    for (; !queue_.empty(); queue_.pop_front()) {
      CURL* handle = nullptr;
      if (free_.empty()) {
        handle = curl_easy_init();
      } else {
        handle = free_.back();
        free_.pop_back();
      }
      queue_.front()->prepare(handle, certificates_);
      curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
      curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
      if (curl_multi_add_handle(multi_, handle) == CURLM_OK)
        under_way_.push_back(std::move(queue_.front()));
      else
        queue_.front()->finish(CURLE_FAILED_INIT);
    }
  }

  // Gives back what is done or cancelled.
  void end() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      Receiving* receiving = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &receiving);
      finish(receiving, message->data.result);
    }
    std::vector<Receiving*> cancelled;
    for (auto& receiving : under_way_)
      if (receiving->is_cancelled()) cancelled.push_back(receiving.get());
    for (Receiving* receiving : cancelled) finish(receiving, CURLE_ABORTED_BY_CALLBACK);
  }

  void finish(Receiving* receiving, CURLcode result) {
    CURL* handle = receiving->handle;
    curl_multi_remove_handle(multi_, handle);
    receiving->finish(result);
    curl_easy_reset(handle);
    free_.push_back(handle);
    std::lock_guard lock(mutex_);
    std::erase_if(under_way_, [&](auto& each) { return each.get() == receiving; });
  }

  static curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* address) {
    const int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (made >= 0) instance_->sockets_.insert(made);
    return made < 0 ? CURL_SOCKET_BAD : made;
  }
  static int close_socket(void*, curl_socket_t closed) {
    instance_->sockets_.erase(closed);
    return close(closed);
  }

  bool try_before_fork() override {
    if (!performing_.try_lock()) return false;
    if (mutex_.try_lock()) return true;
    performing_.unlock();
    return false;
  }
  // The child has neither the thread nor the right to the connections: it begins anew, and what libcurl holds is lost.
  void after_fork(bool in_child) override {
    if (in_child) {
      for (int each : sockets_) close(each);
      sockets_.clear();
      new (&more_) std::condition_variable;
      new (&queue_) std::deque<std::unique_ptr<Receiving>>;
      new (&under_way_) std::vector<std::unique_ptr<Receiving>>;
      free_.clear();
      multi_ = nullptr;
      is_running_ = false;
      forks_++;
    }
    mutex_.unlock();
    performing_.unlock();
  }

  std::mutex performing_, mutex_;
  std::condition_variable more_;
  std::deque<std::unique_ptr<Receiving>> queue_;
  std::vector<std::unique_ptr<Receiving>> under_way_;
  std::vector<CURL*> free_;
  std::set<int> sockets_;
  std::string certificates_;  // of the system
  CURLM* multi_ = nullptr;
  bool is_running_ = false;
  std::atomic<int> forks_ = 0;
  ForkRegistration fork_{this, Rank::reader};
};

Transfers* const Transfers::instance_ = new Transfers;

}  // namespace

std::string Transfer::range_text(int64_t offset, int64_t bytes) {
  if (offset == 0 && bytes == kAll) return {};
  return str("bytes=", offset, '-', bytes == kAll ? "" : str(offset + bytes - 1));
}

int64_t Transfer::object_size() const {
  if (status == 416 && offset == 0) return 0;  // it does not even have a first byte
  if (status == 206 || status == 416) return content_range(header("content-range")).size;
  return number_in(header("content-length"));
}

std::string Transfer::header(const std::string& name) const {
  auto found = answered_headers.find(name);
  return found == answered_headers.end() ? std::string() : found->second;
}

TransferGroup::TransferGroup() : results_(std::make_shared<TransferResults>()), forks_(Transfers::instance().forks()) {}

TransferGroup::~TransferGroup() {
  results_->cancelled = true;
  Transfers::instance().look();
}

void TransferGroup::start(std::unique_ptr<Transfer> transfer, size_t tag) {
  Transfers::instance().start(std::make_unique<Receiving>(std::move(transfer), tag, results_));
}

std::vector<TransferGroup::Done> TransferGroup::wait(std::chrono::steady_clock::time_point latest) {
  if (std::chrono::steady_clock::now() - checked_ >= kWake) {
    Interruptible::check();
    checked_ = std::chrono::steady_clock::now();
  }
  std::unique_lock lock(results_->mutex);
  while (results_->done.empty()) {
    if (Transfers::instance().forks() != forks_)
      refuse("the process was forked by a signal's handler while it waited for an answer");
    const auto now = std::chrono::steady_clock::now();
    if (now >= latest) break;
    if (results_->arrived.wait_until(lock, std::min(latest, now + kWake)) == std::cv_status::no_timeout) continue;
    lock.unlock();
    Interruptible::check();
    lock.lock();
  }
  return std::exchange(results_->done, {});
}

}  // namespace avida::storage
