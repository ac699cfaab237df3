import Identity
import Localization
import MailText

extension RequestOrigin {
  /// The program that sent the request; nil if it didn't name itself.
  var program: Message? {
    userAgent.isEmpty
      ? nil : BrowserWords.known(userAgent) ?? .verbatim(Words.short(userAgent, 60))
  }
}
