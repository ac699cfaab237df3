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
  static let options =
    [ConfigurationFile.option] + OutboundConfiguration.options + [
      Option("kind", "KIND", variable: false, help: Message("identity-platform or countersign.")),
      Option("project", "P", variable: false, help: Message("The ID of the project there.")),
      Option(
        "url", "URL", variable: false, help: Message("The address of the other Countersign.")),
      Option("access", "LEVEL", variable: false, help: Message("read, support, or policy.")),
      Option(
        "credential-file", "FILE", variable: false,
        help: Message("The JSON key of a service account, or a service token.")),
      Option("json", variable: false, help: Message("Print the results as JSON.")),
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard let kind = RemoteProject.Kind(rawValue: try arguments.required("kind")) else {
      throw UsageError(Message("--kind must be identity-platform or countersign"))
    }
    guard let access = AccessLevel(rawValue: try arguments.required("access")) else {
      throw UsageError(Message("--access must be read, support, or policy"))
    }
    let project = try project(kind, arguments)
    let credential = try credential(kind, try arguments.required("credential-file"))
    var problems = ConfigurationProblems(arguments)
    let outbound = OutboundConfiguration(arguments, problems: &problems)
    guard problems.isEmpty else { throw problems.error }
    let client = ToolkitClient(
      project, credential: credential, access: access, transport: RemoteCarrier(project, outbound),
      clock: RemoteClock(now: { WallClock.system.now().seconds }, steady: WallClock.sinceBoot))
    let isDocument = arguments.has("json")
    let check = await client.check { if !isDocument { say($0) } }
    if isDocument {
      Terminal.say(document: String(decoding: json(check).indented(), as: UTF8.self))
    } else {
      for tenant in check.tenants { Terminal.say(columns: [tenant.id, tenant.displayName]) }
    }
    return check.hasPassed ? 0 : 1
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

  private static func credential(
    _ kind: RemoteProject.Kind, _ path: String
  ) throws -> RemoteCredential {
    let bytes: [UInt8]
    do { bytes = try ReadableFile.text(path, atMost: RemoteCredential.longest + 4) } catch {
      throw ConfigurationError(reading: path, of: "credential-file", error)
    }
    do throws(RemoteCredentialError) { return try RemoteCredential(bytes, for: kind) } catch {
      throw ConfigurationError(
        Message("{path}: {problem}", ["path": .text(path), "problem": .message(error.message)]))
    }
  }

  private static func say(_ finding: ConnectionCheck.Finding) {
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

  private static func json(_ check: ConnectionCheck) -> JSON {
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
