import JSON
import Text

extension JSON {
  /// The value as a `String`, for expectations; nil if it isn't a string.
  var stringValue: String? { textValue?.text }
}
