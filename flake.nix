# `nix build`, `nix run . -- run quick ./`, `nix develop`. nixpkgs comes from the registry of flakes of the machine.
{
  description = "Storage profiler that checks its own figures";
  inputs.nixpkgs.url = "nixpkgs";

  outputs = { self, nixpkgs }:
    let
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
      each = make: nixpkgs.lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "iosonde";
          inherit (manifest) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package" "iosonde" ];
          # Its tests measure real storage, which a sandbox hides; ./test runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/iosonde man --out pages
            installManPage pages/*.1
            for shell in bash zsh fish; do
              installShellCompletion --cmd iosonde --$shell <($out/bin/iosonde completions $shell)
            done
          '';
          meta = {
            description = "Storage profiler that checks its own figures";
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "iosonde";
            platforms = pkgs.lib.platforms.linux;
          };
        };
      });

      devShells = each (pkgs: {
        default = pkgs.mkShell {
          inputsFrom = [ self.packages.${pkgs.system}.default ];
          packages = [ pkgs.clippy pkgs.rustfmt pkgs.fio ];
        };
      });
    };
}
