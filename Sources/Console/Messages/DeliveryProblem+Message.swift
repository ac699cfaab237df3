import Identity
import Localization

extension DeliveryProblem {
  var short: Message {
    if case .response(let text) = self { .verbatim(Formatted.short(text, 120)) } else { message }
  }

  /// The error; a mail server's response is shown as it is.
  var message: Message {
    switch self {
    case .undecryptable: Message("messages.undecryptable")
    case .restored: Message("messages.restored")
    case .invalidRecipient: Message("messages.invalid-recipient")
    case .invalidField(let name): Message("messages.invalid-field", ["field": .text(name)])
    case .quoted(let code) where code.isEmpty: Message("messages.quoting-response")
    case .quoted(let code): Message("messages.quoting-response-with-code", ["code": .text(code)])
    case .response(let text): .verbatim(text)
    }
  }
}
