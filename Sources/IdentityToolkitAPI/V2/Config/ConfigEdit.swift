import Identity
import JSON

/// What a PATCH changes in a project or tenant: the MFA configuration as values, and the other
/// members as an edit that was prepared before the transaction.
struct ConfigEdit: Sendable {
  let mask: UpdateMask
  let mfaMember: String
  let configuration: MFAConfiguration
  /// The edit of the other members; nil if the mask names none of them.
  let members: PreparedEdit<PoolEdit, PoolError>?

  func apply(to settings: inout PoolEdit) throws(PoolError) {
    MFAMessage.apply(
      mask, root: mfaMember, configuration, to: &settings.configuration)
    guard let members else { return }
    // The other members don't depend on the MFA configuration, so its changes don't matter to them.
    let configuration = settings.configuration
    settings.configuration = MFAConfiguration()
    try members.apply(to: &settings)
    settings.configuration = configuration
  }
}

extension ConfigEdit {
  /// Prepares the edit of the members in a mask; `members` is its part without the MFA
  /// configuration.
  ///
  /// `current` is called only if that part has members.
  ///
  /// - Throws: The error of `current`; those of `merge` are thrown when the edit is applied.
  init(
    _ mask: UpdateMask, _ mfaMember: String, _ configuration: MFAConfiguration,
    members: UpdateMask,
    of current: () async throws -> PoolEdit,
    _ merge: @escaping @Sendable (inout PoolEdit) throws(PoolError) -> Void
  ) async throws {
    self.mask = mask
    self.mfaMember = mfaMember
    self.configuration = configuration
    guard !members.paths.isEmpty else {
      self.members = nil
      return
    }
    var base = try await current()
    base.configuration = MFAConfiguration()
    self.members = PreparedEdit(of: base, merge)
  }
}
