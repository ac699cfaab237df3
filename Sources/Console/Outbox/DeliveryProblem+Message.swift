import Identity
import Localization

extension DeliveryProblem {
  /// The error in a few words, for a list.
  var short: Message {
    if case .response(let text) = self { .verbatim(Words.short(text, 120)) } else { message }
  }

  /// The error; a mail server's response is shown as it is.
  var message: Message {
    switch self {
    case .undecryptable: Message("outbox.undecryptable")
    case .addressBounces: Message("outbox.address-bounces")
    case .invalidRecipient: Message("outbox.invalid-recipient")
    case .invalidField(let name): Message("outbox.invalid-field", ["field": .text(name)])
    case .quoted(let code) where code.isEmpty: Message("outbox.quoting-response")
    case .quoted(let code): Message("outbox.quoting-response-with-code", ["code": .text(code)])
    case .response(let text): .verbatim(text)
    }
  }
}
