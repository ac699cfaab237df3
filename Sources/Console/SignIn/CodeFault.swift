import Identity
import Localization

enum CodeFault {
  static let used = Message(
    """
    This code was already used. Wait for the next one. If you didn’t use it, replace your \
    authenticator app, and change your password if you have one.
    """)

  static func throttled(until: Instant, at now: Instant) -> (text: Message, seconds: Int64) {
    let seconds = until.wait(at: now)
    let wait = Formatted.duration(seconds: Int(seconds))
    return (
      Message("Too many incorrect codes. Try again in {wait}.", ["wait": .message(wait)]), seconds
    )
  }

  static func tooManyPasswords(retryingIn seconds: Int64) -> Message {
    let wait = Formatted.duration(seconds: Int(seconds))
    return Message("Too many incorrect passwords. Try again in {wait}.", ["wait": .message(wait)])
  }
}
