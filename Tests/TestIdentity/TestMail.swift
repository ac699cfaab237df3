import Localization
import MailText

/// The writer of all messages of the tests.
enum TestMail {
  static let writer = CatalogMailWriter([.english])
}
