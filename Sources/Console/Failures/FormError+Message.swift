import HTTP
import Localization
import Text

extension FormError {
  var message: Message {
    switch self {
    case .badCoding: Message("The form isn’t percent-encoded UTF-8.")
    case .containsNUL:
      Message(
        """
        A field contains a NUL character, which can’t be stored. Remove it, and submit the form \
        again.
        """)
    case .nameTooLong:
      Message(
        one: "The name of a field is longer than {count} byte.",
        other: "The name of a field is longer than {count} bytes.",
        ["count": .number(UntrustedText.longestName)])
    case .tooManyMarks:
      Message(
        one: "A field has more than {count} combining mark in a row.",
        other: "A field has more than {count} combining marks in a row.",
        ["count": .number(UntrustedText.longestRun)])
    case .tooManyFields:
      Message(
        one: "The form has more than {count} field.",
        other: "The form has more than {count} fields.", ["count": .number(Form.maximumCount)])
    }
  }
}
