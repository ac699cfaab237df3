import Identity
import Localization
import Templating

struct PolicyFileDrift: ViewModel {
  let sentence: Message
  let changes: [ChangeRow]

  init?(_ drift: [PolicyChange]?, _ status: PolicyFileStatus) {
    let sentence = status.warning ?? drift.map { PolicyFileText.sentence($0.map(\.field)) }
    guard let sentence else { return nil }
    self.sentence = sentence
    changes = (drift ?? []).map(ChangeRow.init)
  }

  static let keys: Keys<Self> = [
    .text(\.sentence),
    .list(\.changes),
  ]
}
