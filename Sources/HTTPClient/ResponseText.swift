/// The text of a response for a log or a list of messages.
public enum ResponseText {
  /// Returns bytes as one line of text, without control characters and repeated spaces.
  public static func line(_ bytes: some Collection<UInt8>) -> String {
    let text = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar in
      scalar.value < 32 || (127...159).contains(scalar.value) ? " " : String(scalar)
    }.joined()
    return text.split(separator: " ").joined(separator: " ")
  }
}
