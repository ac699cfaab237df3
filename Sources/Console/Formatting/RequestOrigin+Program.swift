import Identity
import Localization
import MailText

extension RequestOrigin {
  /// The program that sent the request; nil if it didn't name itself.
  var program: Message? {
    userAgent.isEmpty
      ? nil : BrowserText.known(userAgent) ?? .verbatim(Formatted.short(userAgent, 60))
  }
}
