import JSON
public import Localization

/// What a connection would reach, step by step.
public struct ConnectionCheck: Sendable {
  package enum Step: String, CaseIterable, Sendable {
    case credential, project, mfa, tenants, users, permissions
  }

  /// The permissions that a credential lacks, and those that it shouldn't have; nil if the remote
  /// doesn't say.
  public typealias Permissions = (missing: [String], excess: [String]?)

  /// The result of a step.
  public struct Finding: Sendable {
    package let step: Step
    /// A sentence, without apostrophes.
    public let message: Message
    /// Why the step failed, and no other follows; nil if it passed.
    package var fault: RemoteFault?
  }

  package fileprivate(set) var findings: [Finding] = []
  package fileprivate(set) var config: RemoteConfig?
  package fileprivate(set) var tenants: [RemoteTenant] = []
  /// The numbers of users of the project, whose tenant is nil, and of its first 50 enabled tenants; empty
  /// if they weren't counted.
  package fileprivate(set) var counted: [(tenant: RemoteTenant?, users: Int)] = []
  package var users: Int? { counted.isEmpty ? nil : counted.reduce(0) { $0 + $1.users } }
  package fileprivate(set) var permissions: Permissions?

  fileprivate static let mostCounted = 50

  /// Whether no step failed.
  public var hasPassed: Bool { findings.last?.fault == nil }
}

extension ToolkitClient {
  /// Checks whether the project can be connected, without changing anything there, and reports the
  /// result of each step at once.
  public func check(_ report: (ConnectionCheck.Finding) -> Void) async -> ConnectionCheck {
    var check = ConnectionCheck()
    for step in ConnectionCheck.Step.allCases where step != .credential || tokens != nil {
      let finding: ConnectionCheck.Finding
      do throws(RemoteFault) {
        finding = .init(step: step, message: try await take(step, &check))
      } catch {
        finding = .init(step: step, message: error.message(at: project), fault: error)
      }
      check.findings.append(finding)
      report(finding)
      if finding.fault != nil { break }
    }
    return check
  }

  private func take(
    _ step: ConnectionCheck.Step, _ check: inout ConnectionCheck
  ) async throws(RemoteFault) -> Message {
    switch step {
    case .credential:
      _ = try await tokens?.token()
      return Message("{server} accepts the credential.", ["server": .text(project.server)])
    case .project:
      check.config = try await config(for: .person)
      return Message("The project {project} is readable.", ["project": .text(project.id)])
    case .mfa:
      guard check.config?.hasIdentityPlatform == true else {
        throw RemoteFault(.noIdentityPlatform)
      }
      return Message("The project can have second factors.")
    case .tenants:
      do throws(RemoteFault) { check.tenants = try await tenants(for: .person) } catch {
        guard error.cause == .tenantsOff else { throw error }
      }
      return Message(
        one: "{count} tenant.", other: "{count} tenants.", ["count": .number(check.tenants.count)])
    case .users:
      _ = try await users(of: nil, after: nil, size: 1, for: .person)
      let tenants = check.tenants.filter { !$0.isDisabled }.prefix(ConnectionCheck.mostCounted)
      var counted: [(tenant: RemoteTenant?, users: Int)] = []
      for tenant in [nil] + tenants.map(Optional.some) {
        counted.append((tenant, try await userCount(of: tenant?.id, for: .person)))
      }
      check.counted = counted
      return Message(
        one: "{count} user (tenants counted: {tenants}).",
        other: "{count} users (tenants counted: {tenants}).",
        ["count": .number(check.users ?? 0), "tenants": .number(tenants.count)])
    case .permissions:
      let permissions = try await permissions(for: .person)
      check.permissions = permissions
      guard permissions.missing.isEmpty else {
        throw RemoteFault(.permissionMissing(permissions.missing.joined(separator: ", ")))
      }
      guard let excess = permissions.excess else {
        return Message("What was tried is permitted. Whether more is permitted is unknown.")
      }
      let level = Message.Value.text(access.rawValue)
      guard !excess.isEmpty else {
        return Message("The credential fits the access level {level}.", ["level": level])
      }
      return Message(
        "The credential may do more than {level} needs. Remove from its role: {permissions}.",
        ["level": level, "permissions": .text(excess.joined(separator: ", "))])
    }
  }

  /// Finds out what the credential may do, without changing anything there.
  ///
  /// Google is asked, which requires the Cloud Resource Manager API in the project of the service
  /// account. Otherwise, a user who doesn't exist is updated.
  public func permissions(
    for purpose: RemotePurpose
  ) async throws(RemoteFault) -> ConnectionCheck.Permissions {
    let (needed, excess) = (access.permissions, access.excess)
    let call = RemoteCall(
      host: RemoteHost.resourceManager, path: "/v1/projects/\(project.id):testIamPermissions",
      body: ["permissions": .array((needed + excess).map { .string($0) })],
      permission: "resourcemanager.projects.get")
    if project.kind == .identityPlatform, let answer = try? await send(call, for: purpose).body {
      let held = answer["permissions"]?.arrayValue ?? []
      return (
        needed.filter { !held.contains(.string($0)) }, excess.filter { held.contains(.string($0)) }
      )
    }
    guard access >= .support else { return ([], nil) }
    let update = RemoteCall(
      path: path("v1", nil, "accounts:update"), body: ["localId": "countersign-permission-check"],
      needs: access, permission: "firebaseauth.users.update")
    do throws(RemoteFault) { _ = try await send(update, for: purpose) } catch {
      switch error.cause {
      case .other("USER_NOT_FOUND"): break
      case .permissionMissing(let name): return ([name], nil)
      default: throw error
      }
    }
    return ([], nil)
  }
}
