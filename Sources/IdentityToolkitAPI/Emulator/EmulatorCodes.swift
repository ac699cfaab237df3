import Crypto
import HTTP
import Identity
import JSON
import Text

extension Routes {
  /// Email codes for application tests: a list, and the page that links lead to.
  mutating func addEmulatorCodes() {
    emulator(.get, "oobCodes", Methods.oobCodes, methods.listOobCodes)
    let action: Path<> = Path("emulator", "action")
    add(
      action.route(.get) { [methods] request in await methods.act(request) },
      Methods.emulatorAction, .emulator, .both, isPage: true)
  }
}

extension Methods {
  static let oobCodes = Declaration(
    "oobCodes.list", "Lists the valid codes of email links.",
    gives: [
      "oobCodes": .list([
        "email": .text.required, "requestType": .choice(Methods.oobTypes).required,
        "oobCode": .text.required, "oobLink": .text.required, "newEmail": .text,
      ]).required
    ], failing: [404])
  static let emulatorAction = Declaration(
    "emulator.action", "Performs the action of a link's code, as the link's page would.",
    query: [
      "mode": .text, "oobCode": .text, "apiKey": .text, "lang": .text, "continueUrl": .text,
      "tenantId": .text, "newPassword": .text,
    ],
    gives: ["authEmulator": .object.required], failing: [303])

  func listOobCodes(_ call: AdminCall) async throws -> JSON {
    let links = try await identity.outOfBandCodes.links(in: call.pool)
    return [
      "oobCodes": .array(
        links.map { link in
          var entry: JSON.Object = [
            "email": .string(link.email), "requestType": .string(link.kind.rawValue),
            "oobCode": .string(link.code), "oobLink": .string(link.link),
          ]
          UserMessage.append("newEmail", link.newEmail, to: &entry)
          return .object(entry)
        })
    ]
  }

  /// `GET /emulator/action`: redirects to the continue URL, or reports what was done.
  fileprivate func act(_ request: Request) async -> Response {
    do throws(ActionRefusal) {
      return try await EmulatorAction(identity: identity, request: request).answer()
    } catch {
      return .json(["authEmulator": .object(error.members)], status: .badRequest)
    }
  }
}

private struct ActionRefusal: Error {
  var members: JSON.Object

  init(_ error: String, _ instructions: String) {
    members = ["error": .string(error), "instructions": .string(instructions)]
  }
}

private struct EmulatorAction {
  let identity: Identity
  let request: Request

  func answer() async throws(ActionRefusal) -> Response {
    guard value("apiKey") != nil else {
      throw ActionRefusal(
        "missing apiKey query parameter",
        "Add an API key to the link, such as &apiKey=fake-api-key. Any key will do.")
    }
    guard let code = value("oobCode") else {
      throw ActionRefusal(
        "missing oobCode query parameter", "Add the code to the link: &oobCode=YOUR_CODE.")
    }
    let pool = try await pool()
    let author = Author(
      actor: .visitor, address: request.peer, requestID: request.id.text)
    switch value("mode") {
    case "resetPassword": return try await resetPassword(code, pool, author)
    case "verifyEmail":
      let done = try await apply(
        code, .verifyEmail, pool, author, "verify your email", "Try verifying your email again.")
      return success("The email has been successfully verified.", ["email": .string(done.email)])
    case "verifyAndChangeEmail":
      let done = try await apply(
        code, .changeEmail, pool, author, "change your email", "Try changing your email again.")
      return success(
        "The email has been successfully changed.", ["newEmail": .string(done.newEmail ?? "")])
    case "recoverEmail":
      let done = try await apply(
        code, .recoverEmail, pool, author, "recover your email",
        "Try updating your email address again.")
      return success("The email has been successfully reset.", ["email": .string(done.email)])
    case "revertSecondFactorAddition":
      let done = try await apply(
        code, .revertFactor, pool, author, "remove a second factor",
        "Withdraw the second factor in the application.")
      return success(
        "The second factor has been successfully removed.", ["email": .string(done.email)])
    case "signIn": return try signIn()
    default:
      throw ActionRefusal(
        "Invalid mode",
        "A link has one of these: resetPassword, verifyEmail, verifyAndChangeEmail, recoverEmail, "
          + "revertSecondFactorAddition, signIn.")
    }
  }

  private func resetPassword(
    _ code: String, _ pool: Pool, _ author: Author
  ) async throws(ActionRefusal) -> Response {
    let refusal = expired("reset your password", "Try resetting your password again.")
    let seen: OutOfBandCode
    do { seen = try await identity.outOfBandCodes.look(at: code, in: pool) } catch {
      throw refusal
    }
    guard seen.kind == .passwordReset else { throw refusal }
    guard let password = value("newPassword"), password != "NEW_PASSWORD_HERE" else {
      var refusal = ActionRefusal(
        value("newPassword") == nil
          ? "missing newPassword query parameter"
          : "newPassword must be something other than 'NEW_PASSWORD_HERE'",
        "To reset the password for \(seen.email), send an HTTP GET request to the following URL.")
      refusal.members.append(
        "instructions2", "You may use a web browser or any HTTP client, such as curl.")
      let own = "/emulator/action?" + (request.target.rawQuery ?? "")
      refusal.members.append("urlTemplate", .string(own + "&newPassword=NEW_PASSWORD_HERE"))
      throw refusal
    }
    do {
      try await identity.outOfBandCodes.resetPassword(
        code, to: Secret(password), in: pool, by: author)
    } catch {
      if case OutOfBandError.account = error {
        throw ActionRefusal(WireError(error).message, "Choose another newPassword.")
      }
      throw refusal
    }
    return success("The password has been successfully updated.", ["email": .string(seen.email)])
  }

  private func apply(
    _ code: String, _ kind: OutOfBandCode.Kind, _ pool: Pool, _ author: Author, _ what: String,
    _ advice: String
  ) async throws(ActionRefusal) -> OutOfBandCode {
    do {
      guard try await identity.outOfBandCodes.look(at: code, in: pool).kind == kind else {
        throw OutOfBandError.invalidCode
      }
      return try await identity.outOfBandCodes.apply(code, in: pool, by: author).code
    } catch {
      throw expired(what, advice)
    }
  }

  /// Redirects to the application with the code, which it signs in with.
  private func signIn() throws(ActionRefusal) -> Response {
    guard let target = value("continueUrl") else {
      throw ActionRefusal(
        "Missing continueUrl query parameter",
        "To sign in, append &continueUrl=YOUR_APP_URL to the link.")
    }
    let rest = request.target.query.entries.filter { $0.name != "continueUrl" }
    return .redirect(
      to: OutOfBandCode.address(target, with: rest.map { ($0.name.text, $0.value.text) }))
  }

  private func success(_ words: String, _ more: JSON.Object) -> Response {
    if let target = value("continueUrl") { return .redirect(to: target) }
    var members: JSON.Object = ["success": .string(words)]
    for member in more.members { members.append(member.name, member.value) }
    return .json(["authEmulator": .object(members)])
  }

  private func expired(_ what: String, _ advice: String) -> ActionRefusal {
    ActionRefusal(
      "Your request to \(what) has expired or the link has already been used.", advice)
  }

  private func pool() async throws(ActionRefusal) -> Pool {
    do {
      return try await identity.pools.find(
        project: identity.defaultProject ?? ID(""), tenant: value("tenantId").map { ID($0) })
    } catch {
      throw ActionRefusal("Invalid tenantId", "The link's tenant doesn't exist.")
    }
  }

  private func value(_ name: String) -> String? {
    request.target.query.text(name).flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension Methods {
  func verificationCodes(_ call: AdminCall) async throws -> JSON {
    let codes = try await identity.signIns.verificationCodes(call.pool)
    return [
      "verificationCodes": .array(
        codes.map { code in
          [
            "phoneNumber": .string(code.phoneNumber), "sessionInfo": .string(code.sessionInfo),
            "code": .string(code.code),
          ]
        })
    ]
  }
}
