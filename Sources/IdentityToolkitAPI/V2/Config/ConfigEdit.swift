import Identity
import JSON

/// What a PATCH changes in a project or tenant: the MFA configuration as values, and the other
/// members as an edit that was prepared before the transaction.
struct ConfigEdit<Settings: ConfigSettings>: Sendable {
  let mask: UpdateMask
  let configuration: MFAConfiguration
  /// The edit of the other members; nil if the mask names none of them.
  let members: PreparedEdit<Settings, ConfigError>?

  func apply(to settings: inout Settings) throws(ConfigError) {
    MFAMessage.apply(
      mask, root: Settings.mfaMember, configuration, to: &settings.configuration)
    guard let members else { return }
    // The other members don't depend on the MFA configuration, so its changes don't matter to them.
    let configuration = settings.configuration
    settings.configuration = MFAConfiguration()
    try members.apply(to: &settings)
    settings.configuration = configuration
  }
}

/// The settings of a project or tenant.
protocol ConfigSettings: StoringMembers {
  /// The name of the member with the MFA configuration.
  static var mfaMember: String { get }
  var configuration: MFAConfiguration { get set }
}

extension ProjectEdit: ConfigSettings {
  static var mfaMember: String { "mfa" }
}

extension TenantEdit: ConfigSettings {
  static var mfaMember: String { "mfaConfig" }
}

extension ConfigEdit {
  /// Prepares the edit of the members in a mask.
  ///
  /// - Parameters:
  ///   - mask: The mask.
  ///   - configuration: The MFA configuration in the body.
  ///   - members: The part of the mask with the other members.
  ///   - current: Reads the current settings; called only if the mask has other members.
  ///   - merge: Applies the other members.
  /// - Throws: The error of `current`; those of `merge` are thrown when the edit is applied.
  init(
    _ mask: UpdateMask, _ configuration: MFAConfiguration, members: UpdateMask,
    of current: () async throws(WireError) -> Settings,
    _ merge: @escaping @Sendable (inout Settings) throws(ConfigError) -> Void
  ) async throws(WireError) {
    self.mask = mask
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
