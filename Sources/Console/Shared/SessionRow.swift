import Identity
import Localization
import MailText
import Templating

struct SessionRow: ViewModel {
  let session: OpenConsoleSession
  let isCurrent: Bool
  let times: Times

  static let keys: Keys<Self> = [
    .text("id") { $0.session.id },
    .text("browser") { BrowserText.name($0.session.userAgent) },
    .text("address") { $0.session.address },
    .markup("startedAt") { $0.times.past($0.session.startedAt) },
    .markup("lastSeenAt") { $0.times.past($0.session.lastSeenAt) },
    .flag(\.isCurrent),
    .text("provider") { row in
      row.session.provider.map {
        Message("Signed in with {name}", ["name": .name(Formatted.short($0))])
      }
    },
  ]
}
