#!/usr/bin/env bash
# Builds a small FFmpeg and libcurl for wheels from Debian's sources, and stand-ins for the libraries that would bring GPL code along.
# usage: build_libraries.sh FOLDER    fills FOLDER with lib, include, licenses and sources, unless they are there
set -euo pipefail
folder=$(realpath -m "$1")

# Built again when this file changes, or when an update of Debian's packages was installed.
key=$({ cat "$0" && dpkg-query -W libavcodec-dev libcurl4-openssl-dev libdav1d-dev libsndfile1-dev libssl-dev libtiff-dev; } | sha256sum)
[[ ! -e $folder/key || $(<"$folder/key") != "$key" ]] || exit 0
rm -rf "$folder"
mkdir -p "$folder"/{lib,licenses/{curl,ffmpeg},sources}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# apt's lists of sources lie in a folder of their own: the machine's set-up stays as it is, and nobody has to be root.
mkdir -p "$work"/apt/{from,lists/partial,cache/archives/partial}
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
  [[ ! -e $list ]] || sed -e 's/^deb /deb-src /' -e 's/^Types:.*/Types: deb-src/' "$list" >"$work/apt/from/${list##*/}"
done
apt() {
  apt-get -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/apt/from" \
    -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

# Shows what a command prints only if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2 && exit 1; }; }

echo "Fetching the sources of FFmpeg and libcurl"
cd "$folder/sources"
quietly apt update
quietly apt source --download-only ffmpeg curl # apt refuses files that differ from the checksums in Debian's signed lists
quietly dpkg-source --extract ffmpeg_*.dsc "$work/ffmpeg"
quietly dpkg-source --extract curl_*.dsc "$work/curl"

# The formats of docs/video.md and docs/sound.md. The bitstream filters are for decoders in hardware, which want other
# packets than files have. The decoder of Opus needs libswresample.
demuxers=asf,avi,flv,h264,hevc,ivf,m4v,matroska,mjpeg,mov,mpegps,mpegts,mpegvideo,obu,ogg,yuv4mpegpipe
demuxers+=,aac,ac3,aiff,au,caf,eac3,flac,mp3,w64,wav
decoders=flv,h263,h264,hevc,libdav1d,mjpeg,mpeg1video,mpeg2video,mpeg4,rawvideo,theora,vc1,vp8,vp9,wmv1,wmv2,wmv3
decoders+=,aac,aac_latm,ac3,alac,eac3,flac,mp1float,mp2float,mp3float,opus,vorbis,wmav1,wmav2
decoders+=,adpcm_ima_qt,adpcm_ima_wav,adpcm_ms,pcm_alaw,pcm_bluray,pcm_dvd,pcm_f32be,pcm_f32le,pcm_f64be,pcm_f64le
decoders+=,pcm_mulaw,pcm_s8,pcm_s16be,pcm_s16le,pcm_s24be,pcm_s24le,pcm_s32be,pcm_s32le,pcm_u8,pcm_u16le
parsers=aac,aac_latm,ac3,av1,flac,h263,h264,hevc,mjpeg,mpeg4video,mpegaudio,mpegvideo,opus,vc1,vorbis,vp3,vp8,vp9
filters=av1_frame_split,extract_extradata,h264_mp4toannexb,hevc_mp4toannexb,mpeg4_unpack_bframes,vp9_superframe_split
options=(--enable-shared --disable-static --disable-gpl --disable-nonfree --disable-everything --disable-autodetect
  --disable-network --disable-programs --disable-doc --disable-debug --disable-avdevice --disable-avfilter
  --disable-postproc --disable-swscale --enable-swresample --enable-pic --enable-zlib --enable-libdav1d
  --enable-demuxer=$demuxers --enable-decoder=$decoders --enable-parser=$parsers --enable-bsf=$filters)
cd "$work/ffmpeg"
version=$(dpkg-parsechangelog --show-field Version)
echo "Building FFmpeg $version"
# FFmpeg keeps its configuration as a text: with a prefix that tells nothing of this machine.
quietly ./configure --prefix=/usr "${options[@]}"
quietly make -j"$(nproc)"
quietly make install DESTDIR="$work/installed"
cp -r "$work"/installed/usr/. "$folder"
sed -i "s|=/usr|=$folder|" "$folder"/lib/pkgconfig/*.pc
cp COPYING.LGPLv2.1 LICENSE.md "$folder/licenses/ffmpeg"
printf '%s\n' "Debian's source package ffmpeg, version $version, configured with:" "${options[@]}" \
  >"$folder/licenses/ffmpeg/SOURCE"

# HTTP with and without TLS, and nothing that Debian's libcurl brings along: LDAP, Kerberos, RTMP, SSH and others.
off=(dict file ftp gopher imap ldap ldaps mqtt pop3 rtsp smb smtp telnet tftp alt-svc cookies doh hsts manual netrc ntlm
  static tls-srp unix-sockets)
without=(brotli gssapi libgsasl libidn2 libpsl librtmp libssh libssh2 nghttp2 zlib zstd ca-bundle ca-path)
options=(--enable-shared --with-openssl --enable-threaded-resolver --disable-dependency-tracking
  "${off[@]/#/--disable-}" "${without[@]/#/--without-}")
cd "$work/curl"
version=$(dpkg-parsechangelog --show-field Version)
echo "Building libcurl $version"
quietly ./configure --prefix=/usr "${options[@]}"
quietly make -C lib -j"$(nproc)"
quietly make -C lib install DESTDIR="$work/installed_curl"
quietly make -C include install DESTDIR="$work/installed_curl"
quietly make install-pkgconfigDATA DESTDIR="$work/installed_curl"
cp -r "$work"/installed_curl/usr/. "$folder"
sed -i "s|=/usr|=$folder|" "$folder"/lib/pkgconfig/libcurl.pc
cp COPYING "$folder/licenses/curl"
printf '%s\n' "Debian's source package curl, version $version, configured with:" "${options[@]}" \
  >"$folder/licenses/curl/SOURCE"

# Debian's libtiff wants JBIG-KIT, which is under the GPL, and libsndfile LAME to write MP3, of which one file is. Reading
# needs neither, but for images compressed by JBIG, which are refused.
{
  nm -D --undefined-only "$(cc -print-file-name=libtiff.so)" "$(cc -print-file-name=libsndfile.so)" |
    grep -oE '\b(id3tag|jbg|lame)_\w+' | grep -vxE 'jbg_(dec_in|strerror)' | sed 's/.*/void *&(void) { return 0; }/'
  echo 'int jbg_dec_in(void) { return 1; }'
  echo 'const char *jbg_strerror(int code) { return "this build of avida has no JBIG"; }'
} >"$work/absent.c"
for name in libjbig.so.0 libmp3lame.so.0; do
  cc -shared -fPIC -s -Wl,-soname,$name -o "$folder/lib/$name" "$work/absent.c"
done

echo "$key" >"$folder/key"
