/// Changes samples at random, the same way for each seed.
public struct Mutator: Sendable {
  private var state: UInt64
  private let samples: [[UInt8]]

  /// Pieces that parsers treat in a special way.
  private static let pieces: [[UInt8]] =
    [
      "\"", "\\", "{", "}", "[", "]", "<", ">", "&", "%", "%00", "%zz", "\\u0000", "\\ud800", ":",
      ";",
      ",", "=", "+", "-", "@", "/", "..", "//", "#", "?", "*", "_", "`", "\r", "\n", "\r\n", "\t",
      "0",
      "9223372036854775808", "1e999", "\u{FEFF}", "\u{301}\u{323}", "\u{202E}", "javascript:",
      "{{", "}}", "{{#", "{{/", "{{>", "msgid", "-----BEGIN ", "::", "ffffffff",
    ].map { Array($0.utf8) } + [
      [0], [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
    ]

  /// Creates a mutator.
  ///
  /// - Parameters:
  ///   - samples: What to change; at least one.
  ///   - seed: Any number.
  public init(_ samples: [[UInt8]], seed: UInt64) {
    self.samples = samples.isEmpty ? [[]] : samples
    state = seed
  }

  /// Returns the next input, of at most 4,096 bytes.
  public mutating func next() -> [UInt8] {
    var bytes = samples[number(samples.count)]
    for _ in 0...number(4) { change(&bytes) }
    return Array(bytes.prefix(4_096))
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let place = number(bytes.count + 1)
    let end = min(bytes.count, place + number(16))
    switch number(6) {
    case 0: bytes.insert(contentsOf: Self.pieces[number(Self.pieces.count)], at: place)
    case 1: bytes.removeSubrange(place..<end)
    case 2: bytes.insert(contentsOf: bytes[place..<end], at: number(bytes.count + 1))
    case 3 where place < bytes.count: bytes[place] = UInt8(number(256))
    case 4 where place < bytes.count: bytes[place] ^= 1 << UInt8(number(8))
    default:
      let other = samples[number(samples.count)]
      bytes.replaceSubrange(place..., with: other.dropFirst(number(other.count + 1)))
    }
  }

  // SplitMix64, by Sebastiano Vigna.
  private mutating func number(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
  }
}
