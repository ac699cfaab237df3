import Identity
import Text

/// Settings with members that are only stored and returned, as JSON text.
protocol StoringMembers: Equatable, Sendable {
  var members: String { get }
}

extension PoolEdit: StoringMembers {}
extension ProviderSettings: StoringMembers {}

/// An edit of settings that was carried out before its transaction, on the settings as they were
/// then.
///
/// All writes share one thread. There, the edit compares and assigns values; JSON is merged only if
/// another change came in between.
struct PreparedEdit<Settings: StoringMembers, Reason: Error>: Sendable {
  private let base: Settings
  private let result: Result<Settings, Reason>
  private let edit: @Sendable (inout Settings) throws(Reason) -> Void

  /// Carries out an edit; an error is thrown when the edit is applied.
  init(of base: Settings, _ edit: @escaping @Sendable (inout Settings) throws(Reason) -> Void) {
    self.base = base
    self.edit = edit
    result = Result { () throws(Reason) in
      var settings = base
      try edit(&settings)
      return settings
    }
  }

  func apply(to settings: inout Settings) throws(Reason) {
    guard settings.members.isSameBytes(as: base.members), settings == base else {
      return try edit(&settings)
    }
    settings = try result.get()
  }
}
