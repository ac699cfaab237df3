import Database
import OTP
import Testing

@testable import Identity

extension Instance {
  /// Has agents resynchronize factors in Acme.
  func allowResynchronization(_ isAllowed: Bool = true) async throws {
    try await setSupportRules { $0.resynchronization = isAllowed }
  }

  /// Returns the codes that a device shows whose clock is off: the one before, and the present one.
  func pair(of device: Device, off offset: Int64) throws -> CodePair {
    CodePair(
      first: try TypedCode(device.code(at: now, steps: offset - 1)),
      second: try TypedCode(device.code(at: now, steps: offset)))
  }

  @discardableResult
  func resynchronize(
    _ device: Device, by agent: Agent, _ codes: CodePair, callerCode: String = ""
  ) async throws -> Resynchronization {
    try await identity.resynchronizations.resynchronize(
      device.factor, of: device.account.id, in: acme, with: codes,
      agent.request(.locked, callerCode: callerCode)
    ).value
  }

  @discardableResult
  func resynchronize(
    _ device: Device, by agent: Agent, off offset: Int64
  ) async throws -> Resynchronization {
    try await resynchronize(device, by: agent, try pair(of: device, off: offset))
  }

  @discardableResult
  func clearOffset(_ device: Device, by agent: Agent) async throws -> ClockChange {
    try await identity.resynchronizations.clearOffset(
      device.factor, of: device.account.id, in: acme, agent.request(.mistake)
    ).value
  }

  /// Lets every code of a user be checked.
  func unlockCodes(of device: Device) async throws {
    try await database.write { try AccountRecord.unlockCodes(device.account.key, $0) }
  }

  func clockOffset(_ device: Device) async throws -> Int? {
    try #require(try await reload(device.account).factors.first { $0.id == device.factor })
      .clockOffset
  }
}

extension Resynchronization {
  /// The offset that was stored; nil if the codes were refused.
  var offset: Int? { if case .done(let change) = self { change.offset } else { nil } }
}
