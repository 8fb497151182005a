"""What tests share: builders of files and models, plain references, bad inputs."""
