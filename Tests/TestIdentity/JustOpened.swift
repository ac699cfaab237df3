import Crypto
import Identity

// Forms that are sent as soon as they're opened: nobody can change the settings in between.

extension Support {
  /// Changes the rules.
  @discardableResult
  func change(
    _ pool: Pool, to rules: SupportRules, by caller: Caller
  ) async throws -> ActionOutcome<Bool> {
    let version = try await settings(pool).version
    return try await change(pool, to: rules, expecting: version, by: caller)
  }
}

extension ConsoleSessions {
  /// Changes the limits.
  func setLimits(
    _ limits: SessionLimits, _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    let version = try await self.limits().version
    return try await setLimits(limits, expecting: version, request)
  }
}

extension ConsoleProviders {
  /// Sets the provider up, or changes it.
  func save(
    _ provider: ConsoleProvider, secret: Secret?, _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    let version = (try await find() ?? ConsoleProvider()).version
    return try await save(provider, secret: secret, expecting: version, request)
  }
}
