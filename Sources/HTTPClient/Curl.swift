import CCurl

/// What all transfers need of libcurl.
enum Curl {
  static let isPrepared: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// Returns the text of an error buffer, or else libcurl's text for the result.
  static func description(of code: CURLcode, _ error: [CChar]) -> String {
    let text = String(
      decoding: error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : text
  }

  /// Passes texts as C strings to a closure; nil for missing ones.
  static func withTexts(
    _ texts: [String?], _ body: ([UnsafePointer<CChar>?]) -> CURLcode
  ) -> CURLcode {
    var pointers: [UnsafePointer<CChar>?] = unsafe []
    func append(_ rest: ArraySlice<String?>) -> CURLcode {
      guard let first = rest.first else { return unsafe body(pointers) }
      guard let text = first else {
        unsafe pointers.append(nil)
        return append(rest.dropFirst())
      }
      return unsafe text.withCString { pointer in
        unsafe pointers.append(pointer)
        return append(rest.dropFirst())
      }
    }
    return append(texts[...])
  }
}

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
