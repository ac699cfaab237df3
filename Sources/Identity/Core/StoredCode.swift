import JSON
import Text

/// A stable code with values, as one column stores it: a JSON array of texts.
///
/// Text that earlier versions stored in such a column isn't an array and is read as nil.
struct StoredCode: Equatable {
  let code: String
  let values: [String]

  init(_ code: String, _ values: [String] = []) {
    (self.code, self.values) = (code, values)
  }

  init?(_ stored: String) {
    guard let json = try? JSON.parse(Array(stored.utf8)), let array = json.arrayValue else {
      return nil
    }
    let texts = array.compactMap { $0.textValue?.text }
    guard texts.count == array.count, let code = texts.first else { return nil }
    self.init(code, Array(texts.dropFirst()))
  }

  var text: String {
    let json = JSON.array(([code] + values).map { JSON.string($0) })
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}
