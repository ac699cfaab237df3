@testable import IdentityToolkitClient
import JSON

extension FuzzedParser {
  /// What the server of a connected project answers, and a credential for it.
  static func remote(_ bytes: [UInt8]) -> String? {
    for kind in RemoteProject.Kind.allCases { _ = try? RemoteCredential(bytes, for: kind) }
    guard let project = RemoteProject(kind: .identityPlatform, id: "acme-app") else { return nil }
    let call = RemoteCall(
      path: "/v2/projects/acme-app/tenants", permission: "firebaseauth.users.get")
    for status in [400, 401, 403, 429, 503] {
      let response = RemoteResponse(status: status, body: bytes)
      let fault = RemoteFault(response, to: call, of: project)
      _ = fault.message(at: project)
      guard (fault.detail?.unicodeScalars.count ?? 0) < 520 else { return "details are long" }
    }
    guard let answer = try? JSON.parse(bytes, repairing: true) else { return nil }
    guard (try? JSON.parse(answer.serialized())) == answer else {
      return "a repaired value changed when it was written and read"
    }
    _ = (RemoteConfig(answer), RemoteTenant(answer))
    _ = answer["users"]?.arrayValue?.map { RemoteUser($0) }
    return nil
  }
}
