import CZlib

/// Compresses to gzip (RFC 1952) at zlib's best level; returns nil when it fails.
public func gzip(_ bytes: [UInt8]) -> [UInt8]? {
  var stream = unsafe z_stream()
  let gzipWindow: Int32 = 15 + 16
  let structure = Int32(unsafe MemoryLayout<z_stream>.size)
  guard
    unsafe deflateInit2_(
      &stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzipWindow, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      structure) == Z_OK
  else { return nil }
  defer { unsafe deflateEnd(&stream) }
  var input = bytes
  var output = [UInt8](repeating: 0, count: Int(unsafe deflateBound(&stream, UInt(bytes.count))))
  let capacity = output.count
  let state = unsafe input.withUnsafeMutableBufferPointer { input in
    unsafe output.withUnsafeMutableBufferPointer { output in
      unsafe stream.next_in = input.baseAddress
      unsafe stream.avail_in = UInt32(input.count)
      unsafe stream.next_out = output.baseAddress
      unsafe stream.avail_out = UInt32(capacity)
      return unsafe deflate(&stream, Z_FINISH)
    }
  }
  guard state == Z_STREAM_END else { return nil }
  return unsafe Array(output.prefix(capacity - Int(stream.avail_out)))
}

/// Why a gzip body can't be read.
public enum GunzipError: Error {
  /// It isn't complete gzip members and nothing else.
  case malformed
  /// It's larger than the limit when decompressed.
  case tooLarge
}

/// Decompresses gzip with one or more members (RFC 1952 section 2.2), up to a size in bytes.
public func gunzip(_ bytes: [UInt8], atMost limit: Int) throws(GunzipError) -> [UInt8] {
  var stream = unsafe z_stream()
  let gzipWindow: Int32 = 15 + 16
  let structure = Int32(unsafe MemoryLayout<z_stream>.size)
  guard unsafe inflateInit2_(&stream, gzipWindow, ZLIB_VERSION, structure) == Z_OK else {
    throw .malformed
  }
  defer { unsafe inflateEnd(&stream) }
  var input = bytes
  var output: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 64 << 10)
  let capacity = part.count
  var state = Z_OK
  unsafe input.withUnsafeMutableBufferPointer { input in
    unsafe stream.next_in = input.baseAddress
    unsafe stream.avail_in = UInt32(input.count)
    while output.count <= limit {
      if state == Z_STREAM_END, unsafe stream.avail_in > 0 {
        state = unsafe inflateReset(&stream)
      }
      guard state == Z_OK else { break }
      state = unsafe part.withUnsafeMutableBufferPointer { part in
        unsafe stream.next_out = part.baseAddress
        unsafe stream.avail_out = UInt32(capacity)
        return unsafe inflate(&stream, Z_NO_FLUSH)
      }
      output.append(contentsOf: part.prefix(capacity - Int(unsafe stream.avail_out)))
    }
  }
  guard output.count <= limit else { throw .tooLarge }
  guard state == Z_STREAM_END else { throw .malformed }
  return output
}
