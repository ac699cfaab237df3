/// A value of CBOR, the binary format of authenticators (RFC 8949).
///
/// Only what WebAuthn uses is decoded: items of definite length without tags.
public indirect enum CBOR: Sendable, Equatable {
  /// An integer from 0.
  case unsigned(UInt64)
  /// A negative integer: -1 minus the value.
  case negative(UInt64)
  /// A byte string.
  case bytes([UInt8])
  /// A text string, as bytes that aren't checked to be UTF-8.
  case text([UInt8])
  /// A list.
  case array([CBOR])
  /// A map, in the order of the bytes; its keys are integers and texts, each once.
  case map([Member])
  /// A Boolean value.
  case bool(Bool)
  /// A null or undefined value, or a floating-point number, which isn't kept.
  case other

  /// A member of a map.
  public struct Member: Sendable, Equatable {
    /// The key.
    public let key: CBOR
    /// The value.
    public let value: CBOR
  }

  /// The integer; nil for another type or one that needs more than 64 bits.
  public var integer: Int64? {
    switch self {
    case .unsigned(let value): Int64(exactly: value)
    case .negative(let value): Int64(exactly: value).map { -1 - $0 }
    default: nil
    }
  }

  /// The byte string; nil for another type.
  public var byteString: [UInt8]? {
    if case .bytes(let bytes) = self { bytes } else { nil }
  }

  /// The value of an integer key in a map; nil without one.
  public subscript(_ key: Int64) -> CBOR? {
    guard case .map(let members) = self else { return nil }
    return members.first { $0.key.integer == key }?.value
  }

  /// The value of a text key in a map; nil without one.
  public subscript(_ key: StaticString) -> CBOR? {
    guard case .map(let members) = self else { return nil }
    let key = Self.text(Array(key.description.utf8))
    return members.first { $0.key == key }?.value
  }
}

/// Why bytes can't be decoded.
public enum CBORError: Error, Sendable, Equatable {
  /// The bytes aren't one complete item, or the item has a type that isn't supported.
  case malformed
  /// A map has a key twice, or one that's neither an integer nor a text.
  case invalidKey
  /// Items are nested more than ``CBOR/deepest`` levels.
  case tooDeep
  /// The bytes are longer than ``CBOR/longest``.
  case tooLong
}
