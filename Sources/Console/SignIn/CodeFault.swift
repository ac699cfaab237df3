import Identity
import Localization

enum CodeFault {
  static let used = Message("common.code-used")

  static func throttled(until: Instant, at now: Instant) -> (text: Message, seconds: Int64) {
    let seconds = until.wait(at: now)
    let wait = Formatted.duration(seconds: Int(seconds))
    return (Message("sign-in.too-many-codes", ["wait": .message(wait)]), seconds)
  }

  static func tooManyPasswords(retryingIn seconds: Int64) -> Message {
    let wait = Formatted.duration(seconds: Int(seconds))
    return Message("sign-in.too-many-passwords", ["wait": .message(wait)])
  }
}
