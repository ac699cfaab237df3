import HTTP
import Localization
import Text

extension FormError {
  var message: Message {
    switch self {
    case .badCoding: Message("failures.form-coding")
    case .containsNUL: Message("failures.form-contains-nul")
    case .nameTooLong:
      Message("failures.form-name-too-long", ["count": .number(UntrustedText.longestName)])
    case .tooManyMarks:
      Message("failures.form-too-many-marks", ["count": .number(UntrustedText.longestRun)])
    case .tooManyFields:
      Message("failures.form-too-many-fields", ["count": .number(Form.maximumCount)])
    }
  }
}
