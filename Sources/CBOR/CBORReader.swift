import CCBOR

extension CBOR {
  /// The maximum number of bytes that are decoded.
  public static let longest = 65_536
  /// The maximum nesting of arrays and maps.
  public static let deepest = 8

  /// Decodes one item that takes all bytes.
  ///
  /// - Throws: ``CBORError``.
  public init(_ bytes: [UInt8]) throws(CBORError) {
    let (item, length) = try Self.first(of: bytes)
    guard length == bytes.count else { throw .malformed }
    self = item
  }

  /// Decodes the item at the start of bytes, and returns it with its length.
  ///
  /// - Throws: ``CBORError``.
  public static func first(of bytes: [UInt8]) throws(CBORError) -> (item: CBOR, length: Int) {
    guard bytes.count <= longest else { throw .tooLong }
    var reader = CBORReader(bytes: bytes)
    let item = try reader.item(depth: 0)
    return (item, reader.position)
  }
}

/// What libcbor found at the start of an item.
private enum Token {
  case complete(CBOR)
  case array(Int)
  case map(Int)
}

/// Reads items one after the other; libcbor allocates nothing, so that a declared length costs
/// nothing before its bytes are there.
private struct CBORReader {
  let bytes: [UInt8]
  var position = 0

  mutating func item(depth: Int) throws(CBORError) -> CBOR {
    switch try token() {
    case .complete(let item): return item
    case .array(let count):
      try check(count, depth)
      var items: [CBOR] = []
      for _ in 0..<count { items.append(try item(depth: depth + 1)) }
      return .array(items)
    case .map(let count):
      try check(count, depth)
      var members: [CBOR.Member] = []
      for _ in 0..<count {
        let key = try item(depth: depth + 1)
        switch key {
        case .unsigned, .negative, .text: break
        default: throw .invalidKey
        }
        guard !members.contains(where: { $0.key == key }) else { throw .invalidKey }
        members.append(CBOR.Member(key: key, value: try item(depth: depth + 1)))
      }
      return .map(members)
    }
  }

  /// Refuses a collection that's nested too deeply or can't be complete: each item has a byte.
  private func check(_ count: Int, _ depth: Int) throws(CBORError) {
    guard depth < CBOR.deepest else { throw .tooDeep }
    // A count of more than 63 bits is negative here.
    let most = min(bytes.count - position, Self.longestCollection)
    guard (0...most).contains(count) else { throw .malformed }
  }

  /// The keys of a map are compared with each other.
  private static let longestCollection = 256

  private mutating func token() throws(CBORError) -> Token {
    var found: Token?
    let rest = bytes[position...]
    let result = unsafe rest.withUnsafeBufferPointer { rest in
      unsafe withUnsafeMutablePointer(to: &found) { found in
        var callbacks = tokenCallbacks()
        return unsafe cbor_stream_decode(rest.baseAddress, rest.count, &callbacks, found)
      }
    }
    // What has no callback is complete for libcbor, but isn't found.
    guard result.status == CBOR_DECODER_FINISHED, let found else { throw .malformed }
    position += result.read
    return found
  }
}

private func tokenCallbacks() -> cbor_callbacks {
  var callbacks = countersign_cbor_callbacks()
  unsafe callbacks.uint8 = { unsafe keep(.complete(.unsigned(UInt64($1))), $0) }
  unsafe callbacks.uint16 = { unsafe keep(.complete(.unsigned(UInt64($1))), $0) }
  unsafe callbacks.uint32 = { unsafe keep(.complete(.unsigned(UInt64($1))), $0) }
  unsafe callbacks.uint64 = { unsafe keep(.complete(.unsigned($1)), $0) }
  unsafe callbacks.negint8 = { unsafe keep(.complete(.negative(UInt64($1))), $0) }
  unsafe callbacks.negint16 = { unsafe keep(.complete(.negative(UInt64($1))), $0) }
  unsafe callbacks.negint32 = { unsafe keep(.complete(.negative(UInt64($1))), $0) }
  unsafe callbacks.negint64 = { unsafe keep(.complete(.negative($1)), $0) }
  unsafe callbacks.byte_string = { context, start, count in
    unsafe keep(.complete(.bytes(copy(start, count))), context)
  }
  unsafe callbacks.string = { context, start, count in
    unsafe keep(.complete(.text(copy(start, count))), context)
  }
  unsafe callbacks.array_start = { unsafe keep(.array($1), $0) }
  unsafe callbacks.map_start = { unsafe keep(.map($1), $0) }
  unsafe callbacks.boolean = { unsafe keep(.complete(.bool($1)), $0) }
  unsafe callbacks.null = { unsafe keep(.complete(.other), $0) }
  unsafe callbacks.undefined = { unsafe keep(.complete(.other), $0) }
  unsafe callbacks.float2 = { context, _ in unsafe keep(.complete(.other), context) }
  unsafe callbacks.float4 = { context, _ in unsafe keep(.complete(.other), context) }
  unsafe callbacks.float8 = { context, _ in unsafe keep(.complete(.other), context) }
  return callbacks
}

private func keep(_ token: Token, _ context: UnsafeMutableRawPointer?) {
  unsafe context?.assumingMemoryBound(to: Token?.self).pointee = token
}

/// Copies the bytes of a string.
private func copy(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
  unsafe Array(UnsafeBufferPointer(start: start, count: count))
}
