import HTTPClient
import Host
import Identity
import IdentityToolkitClient
import JSON
import Localization

enum ConnectionCheckCommand: Command {
  static let name = "connection check"
  static let summary = Message(
    """
    checks whether a project of Identity Platform or another Countersign can be connected, and \
    stores nothing; exits 1 if it can't
    """)
  static let options = [ConfigurationFile.option] + NamedConnection.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let named = try NamedConnection(arguments)
    let new = named.new
    let client = named.outbound.remoteClients(new.remote, new.credential, new.access, false)
    let check = await client.check { named.say($0) }
    named.say(check)
    return check.hasPassed ? 0 : 1
  }
}

/// The connection that options name, and how its check is printed.
struct NamedConnection: Sendable {
  let new: NewConnection
  let outbound: OutboundConfiguration
  let isDocument: Bool

  static let json = Option("json", variable: false, help: Message("Print the results as JSON."))

  static let options =
    OutboundConfiguration.options + [
      Option("kind", "KIND", variable: false, help: Message("identity-platform or countersign.")),
      Option("project", "P", variable: false, help: Message("The ID of the project there.")),
      Option(
        "url", "URL", variable: false, help: Message("The address of the other Countersign.")),
      Option("access", "LEVEL", variable: false, help: Message("read, support, or policy.")),
      Option(
        "credential-file", "FILE", variable: false,
        help: Message("The JSON key of a service account, or a service token.")),
      json,
    ]

  init(_ arguments: Arguments) throws {
    guard let kind = RemoteProject.Kind(rawValue: try arguments.required("kind")) else {
      throw UsageError(Message("--kind must be identity-platform or countersign"))
    }
    guard let access = AccessLevel(rawValue: try arguments.required("access")) else {
      throw UsageError(Message("--access must be read, support, or policy"))
    }
    let project = try Self.project(kind, arguments)
    new = try Self.connection(project, access, try arguments.required("credential-file"))
    var problems = ConfigurationProblems(arguments)
    outbound = OutboundConfiguration(arguments, problems: &problems)
    guard problems.isEmpty else { throw problems.error }
    isDocument = arguments.has("json")
  }

  private static func project(
    _ kind: RemoteProject.Kind, _ arguments: Arguments
  ) throws -> RemoteProject {
    let (id, url) = (try arguments.required("project"), arguments.value("url") ?? "")
    guard url.isEmpty == (kind == .identityPlatform) else {
      throw UsageError(Message("--url is for the kind countersign, which requires it"))
    }
    do throws(ClientURLError) { if !url.isEmpty { _ = try ClientURL(url) } } catch {
      throw ConfigurationError(error.message(of: "url"))
    }
    guard let project = RemoteProject(kind: kind, id: id, url: url) else {
      throw ConfigurationError(
        Message("--project must be a project ID, and --url an address without a query."))
    }
    return project
  }

  private static func connection(
    _ project: RemoteProject, _ access: AccessLevel, _ path: String
  ) throws -> NewConnection {
    let bytes: [UInt8]
    do { bytes = try ReadableFile.text(path, atMost: RemoteCredential.longest + 4) } catch {
      throw ConfigurationError(reading: path, of: "credential-file", error)
    }
    do throws(RemoteCredentialError) { return try NewConnection(project, bytes, access) } catch {
      throw ConfigurationError(
        Message("{path}: {problem}", ["path": .text(path), "problem": .message(error.message)]))
    }
  }

  /// Prints a finding at once, unless a document has all.
  func say(_ finding: ConnectionCheck.Finding) {
    guard !isDocument else { return }
    Terminal.say(
      Message(
        "{severity}\t{check}: {finding}",
        [
          "severity": .message(finding.fault == nil ? Message("ok") : Message("error")),
          "check": .text(finding.step.rawValue), "finding": .message(finding.message),
        ]))
    guard let detail = finding.fault?.detail else { return }
    Terminal.say(Message("\tDetails: {detail}", ["detail": .text(Terminal.excerpt(detail))]))
  }

  /// Prints the tenants, or a document with everything; `added` is the ID of the project here.
  func say(_ check: ConnectionCheck, added: String? = nil) {
    guard isDocument else {
      for tenant in check.tenants { Terminal.say(columns: [tenant.id, tenant.displayName]) }
      return
    }
    var document = Self.document(check)
    if let added { document.append("project", .string(added)) }
    Terminal.say(document: String(decoding: JSON.object(document).indented(), as: UTF8.self))
  }

  private static func document(_ check: ConnectionCheck) -> JSON.Object {
    let findings = check.findings.map { finding -> JSON in
      [
        "check": .string(finding.step.rawValue), "passed": .bool(finding.fault == nil),
        "message": .string(OperatorText.string(finding.message)),
        "detail": finding.fault?.detail.map { .string($0) } ?? .null,
      ]
    }
    let tenants = check.tenants.map { tenant -> JSON in
      ["id": .string(tenant.id), "displayName": .string(tenant.displayName)]
    }
    func list(_ texts: [String]?) -> JSON { texts.map { .array($0.map { .string($0) }) } ?? .null }
    return [
      "checks": .array(findings), "tenants": .array(tenants),
      "users": check.users.map { .number(JSON.Number($0)) } ?? .null,
      "missing": list(check.permissions?.missing), "excess": list(check.permissions?.excess),
    ]
  }
}
