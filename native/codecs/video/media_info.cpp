#include "codecs/video/media_info.h"

#include <cmath>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
}

namespace avida::codecs {
namespace {

std::string text(const char* given) { return given ? given : ""; }

std::string named(const char* given) {
  const std::string name = text(given);
  return name == "unknown" || name == "reserved" ? "" : name;
}

std::optional<Ratio> ratio(AVRational value) {
  if (value.num <= 0 || value.den <= 0) return {};
  return Ratio{value.num, value.den};
}

std::optional<double> seconds(int64_t time, AVRational unit) {
  if (time == AV_NOPTS_VALUE || unit.den == 0) return {};
  return static_cast<double>(time) * av_q2d(unit);
}

// The matrix of a stream, of nine numbers; null if it has none.
const int32_t* display_matrix(const AVStream& stream) {
  constexpr size_t kBytes = 9 * sizeof(int32_t);
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  const AVPacketSideData* found = av_packet_side_data_get(
      stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  return found && found->size >= kBytes ? reinterpret_cast<const int32_t*>(found->data) : nullptr;
#else
  size_t size = 0;
  const uint8_t* data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  return data && size >= kBytes ? reinterpret_cast<const int32_t*>(data) : nullptr;
#endif
}

void describe_video(const AVFormatContext& file, AVStream& stream, StreamInfo& info) {
  const AVCodecParameters& parameters = *stream.codecpar;
  const auto format = static_cast<AVPixelFormat>(parameters.format);
  info.height = parameters.height;
  info.width = parameters.width;
  info.format = text(av_get_pix_fmt_name(format));
  if (const AVPixFmtDescriptor* pixels = av_pix_fmt_desc_get(format)) info.bits = pixels->comp[0].depth;
  info.average_rate = ratio(stream.avg_frame_rate);
  info.exact_rate = ratio(stream.r_frame_rate);
  info.pixel_aspect = ratio(av_guess_sample_aspect_ratio(const_cast<AVFormatContext*>(&file), &stream, nullptr));
  info.matrix = named(av_color_space_name(parameters.color_space));
  info.primaries = named(av_color_primaries_name(parameters.color_primaries));
  info.transfer = named(av_color_transfer_name(parameters.color_trc));
  info.range = parameters.color_range == AVCOL_RANGE_JPEG   ? "full"
               : parameters.color_range == AVCOL_RANGE_MPEG ? "limited"
                                                            : "";
  constexpr int kTurns[] = {0, 0, 0, 180, 180, 270, 90, 90, 270};  // of EXIF's orientations
  info.rotation = kTurns[orientation_of(stream)];
  if (const int32_t* matrix = display_matrix(stream)) {
    const double angle = av_display_rotation_get(matrix);
    if (std::isfinite(angle)) info.displayed = angle;
  }
}

void describe_sound(const AVCodecParameters& parameters, StreamInfo& info) {
  info.format = text(av_get_sample_fmt_name(static_cast<AVSampleFormat>(parameters.format)));
  info.bits = parameters.bits_per_raw_sample;
  info.rate = parameters.sample_rate;
  info.channels = parameters.ch_layout.nb_channels;
  char layout[128] = {};
  if (av_channel_layout_describe(&parameters.ch_layout, layout, sizeof(layout)) > 0) info.layout = layout;
}

StreamInfo describe(const AVFormatContext& file, AVStream& stream) {
  const AVCodecParameters& parameters = *stream.codecpar;
  StreamInfo info;
  info.number = stream.index;
  info.kind = text(av_get_media_type_string(parameters.codec_type));
  info.codec = avcodec_get_name(parameters.codec_id);
  info.profile = text(avcodec_profile_name(parameters.codec_id, parameters.profile));
  if (const AVDictionaryEntry* language = av_dict_get(stream.metadata, "language", nullptr, 0))
    info.language = text(language->value) == "und" ? "" : language->value;
  info.begin = seconds(stream.start_time, stream.time_base);
  info.duration = seconds(stream.duration, stream.time_base);
  info.bit_rate = parameters.bit_rate;
  info.frames = stream.nb_frames;
  if (parameters.codec_type == AVMEDIA_TYPE_VIDEO) describe_video(file, stream, info);
  if (parameters.codec_type == AVMEDIA_TYPE_AUDIO) describe_sound(parameters, info);
  return info;
}

}  // namespace

MediaInfo media_info(const AVFormatContext& file) {
  MediaInfo info;
  info.container = text(file.iformat->name);
  info.duration = seconds(file.duration, {1, AV_TIME_BASE});
  info.bit_rate = file.bit_rate;
  for (unsigned i = 0; i < file.nb_streams; i++) info.streams.push_back(describe(file, *file.streams[i]));
  auto* context = const_cast<AVFormatContext*>(&file);  // which the library only reads
  info.best_video = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  info.best_sound = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
  return info;
}

int orientation_of(const AVStream& stream) {
  const int32_t* matrix = display_matrix(stream);
  if (!matrix) return 1;
  // (x, y) of the picture is shown at (a x + c y, b x + d y), moved.
  const int64_t a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
  const auto sign = [](int64_t value) { return value > 0 ? 1 : -1; };
  if (a != 0 && d != 0 && b == 0 && c == 0) return sign(a) > 0 ? (sign(d) > 0 ? 1 : 4) : (sign(d) > 0 ? 2 : 3);
  if (a == 0 && d == 0 && b != 0 && c != 0) return sign(b) > 0 ? (sign(c) > 0 ? 5 : 6) : (sign(c) > 0 ? 8 : 7);
  return 1;
}

}  // namespace avida::codecs
