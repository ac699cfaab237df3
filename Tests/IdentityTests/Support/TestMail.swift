import Foundation
import Localization
import MailText

/// The writer of all messages of the tests: the installed texts.
enum TestMail {
  static let writer = CatalogMailWriter((try? Catalog.installed(in: folder)) ?? [])

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../Templates").standardized.path
}
