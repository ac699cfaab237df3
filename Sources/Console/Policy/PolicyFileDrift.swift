import Identity
import Localization
import Templating

/// How a policy differs from the policy file, or that the file can't be read.
struct PolicyFileDrift: ViewModel {
  let sentence: Message
  /// The fields that differ, with the file's values.
  let changes: [ChangeRow]

  /// Creates the notice; nil if nothing differs and the file can be read.
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
