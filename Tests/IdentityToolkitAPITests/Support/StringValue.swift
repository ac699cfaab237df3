import JSON
import Text

extension JSON {
  /// The string as a `String`, for what tests expect; nil when this is something else.
  var stringValue: String? { textValue?.text }
}
