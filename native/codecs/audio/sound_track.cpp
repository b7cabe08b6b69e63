#include "codecs/audio/sound_track.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "codecs/limits.h"
#include "codecs/video/media_stream.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/samplefmt.h>
}

namespace avida::codecs {
namespace {

bool has_floats(AVSampleFormat format) {
  const AVSampleFormat packed = av_get_packed_sample_fmt(format);
  return packed == AV_SAMPLE_FMT_FLT || packed == AV_SAMPLE_FMT_DBL;
}

// One sample with the whole range of int32, or as a float.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_floating_point_v<From>)
    return static_cast<To>(value);
  else if constexpr (sizeof(From) == 1)
    return static_cast<To>((static_cast<int32_t>(value) - 128) * (1 << 24));
  else if constexpr (sizeof(From) == 8)
    return static_cast<To>(value >> 32);
  else
    return static_cast<To>(static_cast<int32_t>(value) * (1 << (32 - 8 * sizeof(From))));
}

// Frames [from, until) of a decoded piece, interleaved.
template <class From, class To>
void append(const AVFrame& piece, int channels, int64_t from, int64_t until, std::vector<To>& to) {
  const bool planar = av_sample_fmt_is_planar(static_cast<AVSampleFormat>(piece.format)) != 0;
  const size_t begin = to.size();
  to.resize(begin + static_cast<size_t>((until - from) * channels));
  for (int c = 0; c < channels; c++) {
    const auto* samples = reinterpret_cast<const From*>(piece.extended_data[planar ? c : 0]);
    const int64_t step = planar ? 1 : channels, first = planar ? 0 : c;
    To* out = to.data() + begin + c;
    for (int64_t i = from; i < until; i++, out += channels) *out = converted<To>(samples[i * step + first]);
  }
}

template <class To>
void append_any(const AVFrame& piece, int channels, int64_t from, int64_t until, std::vector<To>& to) {
  switch (av_get_packed_sample_fmt(static_cast<AVSampleFormat>(piece.format))) {
    case AV_SAMPLE_FMT_U8:
      return append<uint8_t>(piece, channels, from, until, to);
    case AV_SAMPLE_FMT_S16:
      return append<int16_t>(piece, channels, from, until, to);
    case AV_SAMPLE_FMT_S32:
      return append<int32_t>(piece, channels, from, until, to);
    case AV_SAMPLE_FMT_S64:
      return append<int64_t>(piece, channels, from, until, to);
    case AV_SAMPLE_FMT_FLT:
      return append<float>(piece, channels, from, until, to);
    case AV_SAMPLE_FMT_DBL:
      return append<double>(piece, channels, from, until, to);
    default:
      refuse("the samples of the sound have a format that is not supported");
  }
}

}  // namespace

class SoundTrack::Decoder {
 public:
  Decoder(storage::ObjectPtr file, int stream) : stream_(std::move(file), {StreamKind::sound, stream}) {
    try {
      piece_ = av_frame_alloc();
      if (!piece_) fail(ErrorKind::memory, "no memory for a piece of sound");
      open_codec();
      if (!next()) refuse("the sound cannot be decoded: its first packets are damaged, or there are none");
      describe();
    } catch (...) {
      close();
      throw;
    }
  }
  ~Decoder() { close(); }
  Decoder(const Decoder&) = delete;

  AudioInfo info_;
  double begin_ = 0;

  int64_t position() const { return position_; }
  int stream() const { return stream_.number(); }
  const AVFormatContext& file() const { return stream_.file(); }

  void seek(int64_t frame) {
    if (frame < position_) restart();
    take(frame, [](int64_t, int64_t) {});
  }

  template <class To>
  void read_until(int64_t frame, std::vector<To>& to) {
    take(frame, [&](int64_t from, int64_t until) {
      check_memory(static_cast<int64_t>(to.size()) + (until - from) * info_.channels, sizeof(To));
      append_any(*piece_, info_.channels, from, until, to);
    });
  }

 private:
  void close() {
    av_frame_free(&piece_);
    avcodec_free_context(&codec_);
  }

  void open_codec() {
    const AVCodecParameters& parameters = *stream_.stream().codecpar;
    const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
    if (!codec) refuse("this build of avida has no decoder for ", avcodec_get_name(parameters.codec_id));
    codec_ = avcodec_alloc_context3(codec);
    if (!codec_) fail(ErrorKind::memory, "no memory for the decoder of a sound");
    int code = avcodec_parameters_to_context(codec_, &parameters);
    codec_->pkt_timebase = stream_.stream().time_base;
    codec_->thread_count = 1;
    if (code >= 0) code = avcodec_open2(codec_, codec, nullptr);
    if (code < 0) refuse("the decoder of ", codec->name, " cannot be opened: ", ffmpeg_error(code));
  }

  // By the first piece: some codecs say only in their packets which rate they have.
  void describe() {
    info_.channels = piece_->ch_layout.nb_channels;
    info_.rate = piece_->sample_rate;
    info_.floats = has_floats(static_cast<AVSampleFormat>(piece_->format));
    if (info_.channels < 1 || info_.rate < 1)
      refuse("expected at least one channel and a sample rate above 0, the sound has ", info_.channels,
             " channels and ", info_.rate, " Hz");
    if (piece_->pts != AV_NOPTS_VALUE)
      begin_ =
          static_cast<double>(piece_->pts) * av_q2d(stream_.stream().time_base) + static_cast<double>(at_) / info_.rate;
  }

  // What an encoder put in front. Demuxers say so in the first packet, but for older ones of Matroska.
  int64_t lead_of(const AVPacket& first) const {
    const AVCodecParameters& parameters = *stream_.stream().codecpar;
    const bool is_matroska = std::string_view(stream_.file().iformat->name).starts_with("matroska");
    if (!is_matroska || parameters.codec_id == AV_CODEC_ID_OPUS) return 0;
    const bool is_told = av_packet_get_side_data(&first, AV_PKT_DATA_SKIP_SAMPLES, nullptr) != nullptr;
    return is_told ? 0 : std::max(0, parameters.initial_padding);
  }

  void restart() {
    avcodec_free_context(&codec_);  // also what it knows of samples to leave out
    stream_.rewind();
    open_codec();
    av_frame_unref(piece_);
    position_ = at_ = 0;
    lead_ = 0;
    draining_ = is_at_end_ = has_decoded_ = has_packets_ = false;
  }

  // Calls use(from, until) for the parts of pieces up to a frame.
  template <class Use>
  void take(int64_t frame, const Use& use) {
    while (position_ < frame) {
      if (at_ == piece_->nb_samples && !next()) return;
      const int64_t until = at_ + std::min<int64_t>(piece_->nb_samples - at_, frame - position_);
      use(at_, until);
      position_ += until - at_;
      at_ = until;
    }
  }

  // Decodes the next piece. What is damaged before the first one is passed over: a file may begin anywhere.
  bool next() {
    at_ = 0;
    while (!is_at_end_) {
      av_frame_unref(piece_);
      const int code = avcodec_receive_frame(codec_, piece_);
      if (code >= 0) {
        check_piece();
        has_decoded_ |= piece_->nb_samples > 0;
        at_ = std::min<int64_t>(lead_, piece_->nb_samples);
        lead_ -= at_;
        if (at_ < piece_->nb_samples) return true;
        continue;
      }
      if (code == AVERROR_EOF || (draining_ && code == AVERROR(EAGAIN))) break;
      if (code != AVERROR(EAGAIN)) check_code(code);
      if (draining_) break;
      const AVPacket* packet = stream_.next();
      draining_ = !packet;
      if (packet && !std::exchange(has_packets_, true)) lead_ = lead_of(*packet);
      const int sent = avcodec_send_packet(codec_, packet);
      if (sent < 0 && sent != AVERROR_EOF) check_code(sent);
    }
    av_frame_unref(piece_);
    at_ = 0;
    is_at_end_ = true;
    return false;
  }

  void check_code(int code) const {
    if (code == AVERROR(ENOMEM)) fail(ErrorKind::memory, "the decoder of the sound needs too much memory");
    if (has_decoded_) refuse("the sound is damaged after ", position_, " frames: ", ffmpeg_error(code));
  }

  void check_piece() const {
    if (info_.rate == 0) return;  // not described yet
    if (piece_->ch_layout.nb_channels != info_.channels || piece_->sample_rate != info_.rate ||
        has_floats(static_cast<AVSampleFormat>(piece_->format)) != info_.floats)
      refuse("the sound changes after ", position_, " frames: ", piece_->ch_layout.nb_channels, " channels and ",
             piece_->sample_rate, " Hz, expected ", info_.channels, " and ", info_.rate);
  }

  MediaStream stream_;
  AVCodecContext* codec_ = nullptr;
  AVFrame* piece_ = nullptr;
  int64_t at_ = 0;        // the next frame of the piece
  int64_t position_ = 0;  // and of all
  int64_t lead_ = 0;      // frames that are still left out
  bool draining_ = false, is_at_end_ = false, has_decoded_ = false, has_packets_ = false;
};

SoundTrack::SoundTrack(storage::ObjectPtr file, int stream)
    : decoder_(std::make_unique<Decoder>(std::move(file), stream)) {}
SoundTrack::~SoundTrack() = default;

const AudioInfo& SoundTrack::info() const { return decoder_->info_; }
const AVFormatContext& SoundTrack::file() const { return decoder_->file(); }
int SoundTrack::stream() const { return decoder_->stream(); }
double SoundTrack::begin() const { return decoder_->begin_; }
int64_t SoundTrack::position() const { return decoder_->position(); }
void SoundTrack::seek(int64_t frame) { decoder_->seek(frame); }
void SoundTrack::read_until(int64_t frame, std::vector<float>& to) { decoder_->read_until(frame, to); }
void SoundTrack::read_until(int64_t frame, std::vector<int32_t>& to) { decoder_->read_until(frame, to); }

namespace {

// What was decoded of a track. Only decoding tells how long it is.
class DecodedSound : public Sound {
 public:
  DecodedSound(SoundTrack& track, const AudioSegment& wanted) : info_(track.info()) {
    track.seek(wanted.begin);
    if (track.position() < wanted.begin)
      refuse("expected a start within the sound, which has ", static_cast<double>(track.position()) / info_.rate,
             " s, got ", static_cast<double>(wanted.begin) / info_.rate);
    if (info_.floats)
      track.read_until(wanted.end, floats_);
    else
      track.read_until(wanted.end, integers_);
    info_.frames = static_cast<int64_t>(floats_.size() + integers_.size()) / info_.channels;
  }

  // With silence before the first frame, where the part begins before it, and behind the last one.
  static std::unique_ptr<DecodedSound> padded(SoundTrack& track, const AudioSegment& wanted) {
    const AudioInfo info = track.info();
    check_memory(wanted.end - wanted.begin, int64_t{info.channels} * 4);
    track.seek(std::max<int64_t>(0, wanted.begin));
    std::unique_ptr<DecodedSound> sound(new DecodedSound(info));
    const auto fill = [&](auto& samples) {
      const int64_t before = std::clamp<int64_t>(-wanted.begin, 0, wanted.end - wanted.begin);
      samples.resize(static_cast<size_t>(before * info.channels));
      track.read_until(wanted.end, samples);
      samples.resize(static_cast<size_t>((wanted.end - wanted.begin) * info.channels));
    };
    if (info.floats)
      fill(sound->floats_);
    else
      fill(sound->integers_);
    sound->info_.frames = wanted.end - wanted.begin;
    return sound;
  }

  const AudioInfo& info() const override { return info_; }
  void seek(int64_t frame) override { at_ = std::clamp<int64_t>(frame, 0, info_.frames); }
  void read(float* to, int64_t frames) override {
    each(frames, [&](const auto& samples, int64_t i) {
      if constexpr (std::is_same_v<std::decay_t<decltype(samples[0])>, float>)
        *to++ = samples[i];
      else
        *to++ = static_cast<float>(samples[i]) * 0x1p-31f;
    });
  }
  void read(int16_t* to, int64_t frames) override {
    each(frames, [&](const auto& samples, int64_t i) { *to++ = static_cast<int16_t>(whole(samples[i]) >> 16); });
  }
  void read(int32_t* to, int64_t frames) override {
    each(frames, [&](const auto& samples, int64_t i) { *to++ = whole(samples[i]); });
  }

 private:
  explicit DecodedSound(const AudioInfo& info) : info_(info) {}
  static int32_t whole(int32_t sample) { return sample; }
  static int32_t whole(float sample) {
    if (std::isnan(sample)) return 0;
    return static_cast<int32_t>(std::clamp(static_cast<double>(sample) * 0x1p31, -0x1p31, 0x1p31 - 1));
  }
  template <class Use>
  void each(int64_t frames, const Use& use) {
    if (frames > info_.frames - at_) refuse("expected ", frames, " frames of sound, got ", info_.frames - at_);
    const int64_t begin = at_ * info_.channels, end = (at_ += frames) * info_.channels;
    if (info_.floats)
      for (int64_t i = begin; i < end; i++) use(floats_, i);
    else
      for (int64_t i = begin; i < end; i++) use(integers_, i);
  }

  AudioInfo info_;
  std::vector<float> floats_;
  std::vector<int32_t> integers_;
  int64_t at_ = 0;
};

OpenedSound open_track(storage::ObjectPtr file, int stream, const SoundRange& range) {
  SoundTrack track(std::move(file), stream);
  auto sound = std::make_unique<DecodedSound>(track, range.asked(track.info().rate));
  const int64_t frames = sound->info().frames;
  return {std::move(sound), {0, frames}};
}

[[maybe_unused]] const bool given_at_load = set_track_opener(open_track);

}  // namespace

std::unique_ptr<Sound> sound_between(storage::ObjectPtr file, int stream, double from, double to) {
  SoundTrack track(std::move(file), stream);
  const double rate = track.info().rate, longest = 0x1p40;
  const auto frame_at = [&](double seconds) {
    return std::llround(std::clamp((seconds - track.begin()) * rate, -longest, longest));
  };
  return DecodedSound::padded(track, {frame_at(from), std::max(frame_at(from), frame_at(to))});
}

}  // namespace avida::codecs
